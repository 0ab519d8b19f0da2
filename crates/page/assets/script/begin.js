/* ---------------------------------------------------------------- begin */

appeared(body);
chooseCurrent();
if (scroll) toEnd();
if (body.dataset.live !== "no") connect();
