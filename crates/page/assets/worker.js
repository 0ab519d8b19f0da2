// Shows notifications and brings the page forward when one is chosen. It keeps nothing and answers no
// requests: the page is always the server's.

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const to = new URL(event.notification.data ?? "/", self.location.origin).href;
  event.waitUntil(
    self.clients.matchAll({ type: "window" }).then((pages) => {
      const open = pages.find((page) => page.url === to) ?? pages[0];
      if (open) return open.focus().then((page) => (page.url === to ? page : page.navigate(to)));
      return self.clients.openWindow(to);
    }),
  );
});
