//! The rules: what is looked for, and under which names.

use std::borrow::Cow;
use std::ops::Range;

use regex::bytes::Regex;

use super::address::{emails, url_passwords};
use super::anchors::{Anchors, Group, Present};
use super::assignment::assignments;
use super::home::{self, homes};
use super::known::Known;
use super::names::{Announced, LAST_WORDS, is_distinctive};
use super::patterns::{Pattern, patterns};
use super::pem::private_keys;
use super::placeholder::{EMAIL, Form, HOME};
use super::secret::{Hit, Identity, KindId, Reach, RuleId, Secret};

/// The rule for private keys, and their kind.
const PRIVATE_KEY: &str = "private-key";

// The groups of rules for the quick look; those after them are patterns.
pub(super) const PLACEHOLDERS: Group = Group(0);
const PRIVATE_KEYS: Group = Group(1);
const URLS: Group = Group(2);
const NAMED: Group = Group(3);
const HOMES: Group = Group(4);
const EMAILS: Group = Group(5);
const FIRST_PATTERN: u32 = 6;

/// The words without which these groups find nothing.
const OTHER_WORDS: &[(&str, Group)] = &[
    ("redacted-", PLACEHOLDERS),
    ("user-", PLACEHOLDERS),
    ("-----BEGIN ", PRIVATE_KEYS),
    ("://", URLS),
    ("passw", NAMED),
    ("passphrase", NAMED),
    ("pwd", NAMED),
    ("secret", NAMED),
    ("key", NAMED),
    ("token", NAMED),
    ("authorization", NAMED),
    ("cookie", NAMED),
    ("code", NAMED),
    ("verifier", NAMED),
    ("home", HOMES),
    ("users", HOMES),
    ("root", HOMES),
    ("@", EMAILS),
];

/// All rules, those that are in force and those that are not.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    rules: Vec<Rule>,
    kinds: Vec<Box<str>>,
    patterns: Vec<BuiltIn>,
    customs: Vec<Custom>,
    anchors: Anchors,
    last_words: Regex,
    home_anchors: Regex,
    named: RuleId,
    private_key: RuleId,
    url_password: RuleId,
    home: RuleId,
    email: RuleId,
}

#[derive(Clone, Debug)]
struct Rule {
    name: Box<str>,
    in_force: bool,
}

#[derive(Clone, Debug)]
struct BuiltIn {
    rule: RuleId,
    kind: KindId,
    group: Group,
    pattern: Pattern,
}

/// A rule that the user made.
#[derive(Clone, Debug)]
struct Custom {
    rule: RuleId,
    kind: KindId,
    regex: Regex,
    /// The user gave the value itself, so it goes wherever it stands.
    literal: bool,
}

impl Rules {
    /// The built-in rules, all in force.
    pub(super) fn built_in() -> Result<Self, regex::Error> {
        let mut rules = Self {
            rules: Vec::new(),
            kinds: Vec::new(),
            patterns: Vec::new(),
            customs: Vec::new(),
            anchors: Anchors::new(&[]),
            last_words: Regex::new(LAST_WORDS)?,
            home_anchors: Regex::new(home::ANCHORS)?,
            named: RuleId(0),
            private_key: RuleId(1),
            url_password: RuleId(2),
            home: RuleId(3),
            email: RuleId(4),
        };
        for name in ["named", PRIVATE_KEY, "url-password", HOME, EMAIL] {
            rules.rule(name);
        }
        let mut words = OTHER_WORDS.to_vec();
        for (group, pattern) in (FIRST_PATTERN..).map(Group).zip(patterns()?) {
            let (rule, kind) = (rules.rule(pattern.rule), rules.kind(pattern.kind));
            words.extend(pattern.words.split('|').map(|word| (word, group)));
            rules.patterns.push(BuiltIn { rule, kind, group, pattern });
        }
        rules.anchors = Anchors::new(&words);
        for kind in
            Announced::ALL.map(Announced::kind).into_iter().chain([PRIVATE_KEY, HOME, EMAIL])
        {
            rules.kind(kind);
        }
        Ok(rules)
    }

    /// Adds a rule of the user.
    pub(super) fn add(&mut self, name: &str, regex: Regex, literal: bool) {
        let (rule, kind) = (self.rule(name), self.kind(name));
        self.customs.push(Custom { rule, kind, regex, literal });
    }

    /// Takes a rule out of force. False when there is none of that name.
    pub(super) fn disable(&mut self, name: &str) -> bool {
        let rule = self.rules.iter_mut().find(|rule| *rule.name == *name);
        rule.map(|rule| rule.in_force = false).is_some()
    }

    /// The names of all rules.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| &*rule.name)
    }

    /// The name of a rule.
    pub(super) fn name(&self, rule: RuleId) -> &str {
        self.rules.get(rule.0).map_or("", |rule| &rule.name)
    }

    /// The name of a kind.
    pub(super) fn kind_name(&self, kind: KindId) -> &str {
        self.kinds.get(kind.0).map_or("", |kind| kind)
    }

    /// The kind of a name, if there is one.
    pub(super) fn kind_named(&self, name: &str) -> Option<KindId> {
        self.kinds.iter().position(|kind| **kind == *name).map(KindId)
    }

    /// Whether a secret is a home, whose value is only the name of its owner.
    pub(super) fn is_home(&self, secret: &Secret) -> bool {
        secret.rule == self.home
    }

    /// How a placeholder of a kind is written, where nothing but its kind is known.
    pub(super) fn form(&self, kind: KindId) -> Form {
        match self.kind_name(kind) {
            EMAIL => Form::Email,
            HOME => Form::Name,
            _ => Form::Word,
        }
    }

    /// Whether values that their names call secret are looked for.
    pub(super) fn has_named(&self) -> bool {
        self.in_force(self.named)
    }

    /// A quick look at what a text can have in it.
    pub(super) fn present(&self, text: &[u8]) -> Present {
        self.anchors.present(text)
    }

    /// Finds all secrets in a text, by rules and by their values.
    ///
    /// The hits come in the order of the rules: where two mean the same place, the first counts.
    pub(super) fn scan(
        &self,
        text: &[u8],
        present: Present,
        known: Option<&Known>,
        hits: &mut Vec<Hit>,
    ) {
        self.scan_customs(text, hits);
        if present.has(PRIVATE_KEYS) && self.in_force(self.private_key) {
            hits.extend(private_keys(text).filter_map(|range| {
                let kind = self.kind_named(PRIVATE_KEY)?;
                let secret = secret(self.private_key, kind, text.get(range.clone())?.into());
                Some(Hit::new(range, secret, Form::Word))
            }));
        }
        for built_in in &self.patterns {
            if present.has(built_in.group) && self.in_force(built_in.rule) {
                built_in.scan(text, hits);
            }
        }
        if present.has(URLS) && self.in_force(self.url_password) {
            hits.extend(url_passwords(text).filter_map(|(context, range)| {
                let kind = self.kind_named(Announced::Password.kind())?;
                let secret = secret(self.url_password, kind, text.get(range.clone())?.into());
                Some(Hit { context, ..Hit::new(range, secret, Form::Word) })
            }));
        }
        if present.has(NAMED) && self.in_force(self.named) {
            hits.extend(assignments(text, &self.last_words).filter_map(|found| {
                let (secret, form) = self.named_value(found.value, found.name.announced)?;
                Some(Hit { context: found.context, ..Hit::new(found.range, secret, form) })
            }));
        }
        if present.has(HOMES) {
            hits.extend(self.homes(text, known));
        }
        if present.has(EMAILS) && self.in_force(self.email) {
            hits.extend(emails(text).filter_map(|range| {
                let kind = self.kind_named(EMAIL)?;
                let secret = secret(self.email, kind, text.get(range.clone())?.into());
                Some(Hit::new(range, secret, Form::Email))
            }));
        }
        hits.extend(known.iter().flat_map(|known| known.find(text)));
    }

    /// Finds homes alone.
    pub(super) fn homes(&self, text: &[u8], known: Option<&Known>) -> Vec<Hit> {
        if !self.in_force(self.home) {
            return Vec::new();
        }
        let found = homes(text, &self.home_anchors, known.map(Known::folders));
        let hit = |home: home::Home| {
            let value = text.get(home.name.clone())?.to_vec();
            let kind = self.kind_named(HOME)?;
            let secret = Secret { rule: self.home, kind, value, reach: Reach::Here };
            let identity = home.known.map_or(Identity::Found(secret), Identity::Known);
            let context = home.context(text);
            Some(Hit { context, range: home.name, identity, form: home.form })
        };
        found.filter_map(hit).collect()
    }

    /// Finds what the user looks for, and what is known, in a number.
    pub(super) fn scan_number(&self, number: &[u8], known: Option<&Known>, hits: &mut Vec<Hit>) {
        self.scan_customs(number, hits);
        hits.extend(known.iter().flat_map(|known| known.find(number)));
    }

    /// The secret that a value is when its name says so, and how its placeholder is written.
    pub(super) fn named_value(
        &self,
        value: Cow<'_, [u8]>,
        announced: Announced,
    ) -> Option<(Secret, Form)> {
        // An address is found as one elsewhere; the same one has to be the same here.
        let whole = 0..value.len();
        let is_email = self.in_force(self.email) && emails(&value).any(|range| range == whole);
        let kind = self.kind_named(if is_email { EMAIL } else { announced.kind() })?;
        Some((secret(self.named, kind, value), self.form(kind)))
    }

    fn scan_customs(&self, text: &[u8], hits: &mut Vec<Hit>) {
        for custom in self.customs.iter().filter(|custom| self.in_force(custom.rule)) {
            for captures in custom.regex.captures_iter(text) {
                let found = captures.get(1).or_else(|| captures.get(0));
                let Some(found) = found.filter(|found| !found.is_empty()) else { continue };
                let mut secret = secret(custom.rule, custom.kind, found.as_bytes().into());
                if custom.literal {
                    secret.reach = Reach::Everywhere;
                }
                let context = captures.get(0).map_or(found.range(), |whole| whole.range());
                hits.push(Hit { context, ..Hit::new(found.range(), secret, Form::Word) });
            }
        }
    }

    fn in_force(&self, rule: RuleId) -> bool {
        self.rules.get(rule.0).is_some_and(|rule| rule.in_force)
    }

    fn rule(&mut self, name: &str) -> RuleId {
        let found = self.rules.iter().position(|rule| *rule.name == *name);
        RuleId(found.unwrap_or_else(|| {
            self.rules.push(Rule { name: name.into(), in_force: true });
            self.rules.len() - 1
        }))
    }

    fn kind(&mut self, name: &str) -> KindId {
        self.kind_named(name).unwrap_or_else(|| {
            self.kinds.push(name.into());
            KindId(self.kinds.len() - 1)
        })
    }
}

impl Hit {
    fn new(range: Range<usize>, secret: Secret, form: Form) -> Self {
        Self { context: range.clone(), range, identity: Identity::Found(secret), form }
    }
}

fn secret(rule: RuleId, kind: KindId, value: Cow<'_, [u8]>) -> Secret {
    let reach = if is_distinctive(&value) { Reach::Everywhere } else { Reach::Here };
    Secret { rule, kind, value: value.into_owned(), reach }
}

impl BuiltIn {
    fn scan(&self, text: &[u8], hits: &mut Vec<Hit>) {
        let mut from = 0;
        while let Some((whole, range)) = self.pattern.find_at(text, from) {
            let value = text.get(range.clone()).unwrap_or_default();
            if self.pattern.check.holds(text, &whole, value) {
                from = whole.end.max(from + 1);
                let secret = secret(self.rule, self.kind, value.into());
                hits.push(Hit { context: whole, ..Hit::new(range, secret, Form::Word) });
            } else {
                // What was taken for the beginning may stand right before the real one.
                from = whole.start + 1;
            }
        }
    }
}
