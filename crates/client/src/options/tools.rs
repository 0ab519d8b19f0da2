//! Tools and skills.

use std::collections::BTreeMap;

use super::OptionsError;
use super::draft::{Draft, reject_comma, reject_empty};
use crate::SessionBuilder;

/// The options of this topic.
#[derive(Clone, Default)]
pub(super) struct Tools {
    set: Option<ToolSet>,
    allowed: Vec<String>,
    disallowed: Vec<String>,
    aliases: BTreeMap<String, String>,
    skills: Option<Skills>,
    previews: Option<PreviewFormat>,
}

/// Which built-in tools there are. MCP tools are not meant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolSet {
    /// All that the CLI has.
    Default,
    /// These, by name.
    Only(Vec<String>),
    /// None.
    Empty,
}

impl ToolSet {
    /// These tools, by name.
    pub fn only<T: Into<String>>(tools: impl IntoIterator<Item = T>) -> Self {
        Self::Only(tools.into_iter().map(Into::into).collect())
    }
}

/// Which skills the main conversation may use without asking.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Skills {
    /// All that are found.
    All,
    /// These, by name; others are not offered to the model. Needs 2.1.197.
    Only(Vec<String>),
}

impl Skills {
    /// These skills, by name.
    pub fn only<T: Into<String>>(skills: impl IntoIterator<Item = T>) -> Self {
        Self::Only(skills.into_iter().map(Into::into).collect())
    }
}

/// How previews of the options of a question are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PreviewFormat {
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
}

impl SessionBuilder {
    /// Which built-in tools there are. Default: all.
    pub fn tools(mut self, tools: ToolSet) -> Self {
        self.options.tools.set = Some(tools);
        self
    }

    /// A rule for calls that run without asking, such as `Read` or `Bash(git status:*)`. Can be
    /// given several times. What a rule allows is not put to the permission handler.
    pub fn allow_tool(mut self, rule: impl Into<String>) -> Self {
        self.options.tools.allowed.push(rule.into());
        self
    }

    /// A rule for calls that are refused without asking, such as `WebFetch` or `Bash(rm:*)`. Can
    /// be given several times. It outranks every rule that allows.
    pub fn disallow_tool(mut self, rule: impl Into<String>) -> Self {
        self.options.tools.disallowed.push(rule.into());
        self
    }

    /// Runs another tool when the model calls this name. An alias of an alias is not followed.
    /// Needs 2.1.197.
    pub fn tool_alias(mut self, called: impl Into<String>, runs: impl Into<String>) -> Self {
        self.options.tools.aliases.insert(called.into(), runs.into());
        self
    }

    /// Which skills may be used without asking. Without this, skills are offered but each use is
    /// asked for.
    pub fn skills(mut self, skills: Skills) -> Self {
        self.options.tools.skills = Some(skills);
        self
    }

    /// Lets questions to the user carry previews of their options, written like this. Needs
    /// 2.1.197.
    pub fn question_previews(mut self, format: PreviewFormat) -> Self {
        self.options.tools.previews = Some(format);
        self
    }
}

impl Tools {
    pub(super) fn apply(&self, draft: &mut Draft) -> Result<(), OptionsError> {
        match &self.set {
            None => {}
            Some(ToolSet::Default) => draft.value("--tools", "default")?,
            Some(ToolSet::Empty) => draft.value("--tools", "")?,
            Some(ToolSet::Only(tools)) => {
                for tool in tools {
                    reject_comma("tools", tool)?;
                }
                draft.value("--tools", tools.join(","))?;
            }
        }
        let mut allowed = self.allowed.clone();
        match &self.skills {
            None => {}
            Some(Skills::All) => allowed.push("Skill".to_owned()),
            Some(Skills::Only(skills)) => {
                for skill in skills {
                    check_skill(skill)?;
                    allowed.push(format!("Skill({skill})"));
                }
                draft.initialize.skills = Some(skills.clone());
            }
        }
        // One flag a rule: in one flag with commas, a rule that is cut short would swallow the
        // next one.
        for (flag, option, rules) in [
            ("--allowedTools", "allow_tool", &allowed),
            ("--disallowedTools", "disallow_tool", &self.disallowed),
        ] {
            for rule in rules {
                check_rule(option, rule)?;
                draft.value(flag, rule)?;
            }
        }
        for (called, runs) in &self.aliases {
            reject_empty("tool_alias", called)?;
            reject_empty("tool_alias", runs)?;
        }
        if !self.aliases.is_empty() {
            draft.initialize.tool_aliases = Some(self.aliases.clone());
        }
        if let Some(format) = self.previews {
            let format = match format {
                PreviewFormat::Markdown => "markdown",
                PreviewFormat::Html => "html",
            };
            draft.set_needed("CLAUDE_CODE_QUESTION_PREVIEW_FORMAT", format);
        }
        Ok(())
    }
}

/// Whether the CLI takes this for one rule, and for this one. It cuts at commas and blanks that are
/// not in parentheses, and any closing parenthesis ends them.
fn check_rule(option: &'static str, rule: &str) -> Result<(), OptionsError> {
    let fail = |problem| Err(OptionsError::value(option, rule, problem));
    reject_empty(option, rule)?;
    let mut inside = false;
    for character in rule.chars() {
        match character {
            '(' => inside = true,
            ')' => inside = false,
            _ if !inside && (character == ',' || character.is_whitespace()) => {
                return fail(
                    "the CLI would take it for two rules: give each rule by itself, and nothing \
                     but the content of a rule with commas or blanks",
                );
            }
            _ => {}
        }
    }
    if rule.starts_with('(') || rule.contains('(') != rule.ends_with(')') {
        return fail("a rule is the name of a tool, or `Name(what)`");
    }
    Ok(())
}

fn check_skill(skill: &str) -> Result<(), OptionsError> {
    reject_comma("skills", skill)?;
    if skill.contains(['(', ')']) {
        return Err(OptionsError::value("skills", skill, "give the name of a skill, not a rule"));
    }
    Ok(())
}
