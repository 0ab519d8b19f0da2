//! What a person is asked, as lines, and what to type about it.

use countersign::permission::{AskKind, PermissionAsk};
use countersign::protocol::ask::{CanUseTool, Elicitation, ElicitationMode};
use countersign::protocol::tool::Question;
use countersign_server::session::{Approval, ApprovalKind};
use serde_json::{Map, Value};

use crate::run::view::ask::Shown;
use crate::run::view::json::tidy;
use crate::run::view::line::{Line, Tone, lines};
use crate::run::view::markdown::Markdown;
use crate::run::view::place::Place;
use crate::run::view::suggestion;
use crate::words::{one_line, quoted, short};

/// What a person is asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Who wants what.
    pub(crate) title: Line,
    /// What exactly.
    pub(crate) body: Vec<Line>,
    /// Whether the body may not be cut: nobody can judge a part of a command.
    pub(crate) is_whole: bool,
    /// Why it is asked, and what can be decided with it.
    pub(crate) about: Vec<Line>,
    /// What can be typed.
    pub(crate) commands: Vec<String>,
}

impl Asked {
    /// What is asked in a session that works in this folder.
    pub(crate) fn of(approval: &Approval, folder: &str) -> Self {
        let place = Place::elsewhere(folder);
        let id = short(approval.id.uuid());
        let asked = match approval.kind {
            ApprovalKind::Elicitation => form(approval, &id),
            ApprovalKind::EnterPlan => Some(enter_plan(&id)),
            ApprovalKind::Tool | ApprovalKind::Plan | ApprovalKind::Question => {
                approval.permission().ok().map(|request| permission(approval, request, &place, &id))
            }
        };
        let mut asked = asked.unwrap_or_else(|| unreadable(approval, &id));
        if let Some(agent) = &approval.agent
            && approval.kind != ApprovalKind::Tool
        {
            asked.title = asked.title.and(Tone::Dim, &format!("  (for the agent {agent})"));
        }
        asked
    }

    /// All of it, or what of the body fits into this many lines.
    pub(crate) fn lines(&self, most: Option<usize>) -> Vec<Line> {
        let mut shown = vec![self.title.clone()];
        let most = most.filter(|most| !self.is_whole && self.body.len() > most + 1);
        let body = self.body.iter().take(most.unwrap_or(usize::MAX));
        shown.extend(body.map(|line| line.clone().indented(2)));
        if let Some(most) = most {
            let more = format!("… {} more lines", self.body.len() - most);
            shown.push(Line::of(Tone::Warn, &more).indented(2));
        }
        shown.extend(self.about.iter().map(|line| line.clone().indented(2)));
        shown.extend(self.commands.iter().map(|command| Line::of(Tone::Code, command).indented(2)));
        shown
    }
}

fn permission(approval: &Approval, request: CanUseTool, place: &Place, id: &str) -> Asked {
    match PermissionAsk::again(request).into_kind() {
        AskKind::Plan(plan) => {
            let round = approval.round.map(|round| format!(", round {round}")).unwrap_or_default();
            let text = plan.plan().unwrap_or("(there is no plan in the request)");
            let wishes = plan.allowed_prompts();
            let mut about = Vec::new();
            for wish in wishes {
                let words = format!("It asks to be allowed, too: {}: {}", wish.tool, wish.prompt);
                about.push(Line::of(Tone::Dim, &words));
            }
            Asked {
                title: Line::of(Tone::Bold, &format!("Plan{round}")),
                body: Markdown::text(text),
                is_whole: false,
                about,
                commands: vec![
                    format!(
                        "countersign answer {id} --plan accept-edits   (or manual, clear-context)"
                    ),
                    format!("countersign answer {id} --plan keep \"what to change\""),
                ],
            }
        }
        AskKind::Questions(ask) => questions(ask.questions(), id),
        AskKind::Tool(ask) => tool(ask.request(), place, id),
        _ => unreadable(approval, id),
    }
}

fn tool(request: &CanUseTool, place: &Place, id: &str) -> Asked {
    let Shown { title, body, is_whole, mut about } = Shown::new(request, place);
    let mut suggestions = request.permission_suggestions.as_deref().unwrap_or_default();
    if request.suppress_always_allow_rule == Some(true) {
        suggestions = &[];
    }
    let mut commands = vec![format!("countersign approve {id}")];
    for (number, update) in suggestions.iter().enumerate() {
        if let Some(words) = suggestion::words(update, place) {
            let number = number + 1;
            about.push(Line::of(Tone::Dim, &format!("--rule {number}: {words}")));
            if commands.len() == 1 {
                commands.push(format!("countersign approve {id} --rule {number}"));
            }
        }
    }
    commands.push(format!("countersign deny {id} \"why\""));
    Asked { title, body, is_whole, about, commands }
}

fn questions(questions: &[Question], id: &str) -> Asked {
    let mut body = Vec::new();
    let mut choose = String::new();
    for (number, question) in questions.iter().enumerate() {
        let number = number + 1;
        let several = if question.multi_select == Some(true) { "  (several)" } else { "" };
        body.push(
            Line::of(Tone::Plain, &format!("{number}. {}", question.question))
                .and(Tone::Dim, several),
        );
        for (at, option) in question.options.iter().enumerate() {
            if at == 0 {
                // Whoever pastes it runs nothing that the model made up.
                let chosen = quoted(&format!("{number}={}", option.label));
                choose = format!("{choose} --choose {chosen}");
            }
            let line = Line::of(Tone::Accent, &format!("   {}", option.label));
            let about = option.description.as_deref().filter(|about| !about.is_empty());
            body.push(match about {
                Some(about) => line.and(Tone::Dim, &format!("  {about}")),
                None => line,
            });
        }
    }
    Asked {
        title: Line::of(Tone::Bold, if questions.len() == 1 { "Question" } else { "Questions" }),
        body,
        is_whole: true,
        about: Vec::new(),
        commands: vec![
            format!("countersign answer {id}{choose}"),
            format!("countersign answer {id} --reply \"…\"   (or --skip)"),
        ],
    }
}

fn enter_plan(id: &str) -> Asked {
    Asked {
        title: Line::of(Tone::Bold, "Wants to make a plan first")
            .and(Tone::Dim, "  (enter plan mode)"),
        body: Vec::new(),
        is_whole: true,
        about: Vec::new(),
        commands: vec![
            format!("countersign approve {id}"),
            format!("countersign deny {id} \"go ahead without one\""),
        ],
    }
}

fn form(approval: &Approval, id: &str) -> Option<Asked> {
    let ask: Elicitation = approval.request.decode().ok()?;
    let server = ask.display_name.as_deref().unwrap_or(&ask.mcp_server_name);
    let mut body = lines(Tone::Plain, &ask.message);
    if ask.mode == Some(ElicitationMode::Url)
        && let Some(url) = &ask.url
    {
        body.push(Line::of(Tone::Dim, "It is answered on this page, if you trust it:"));
        body.push(Line::of(Tone::Code, url));
    }
    let mut commands = Vec::new();
    match ask.requested_schema.as_ref().and_then(|schema| schema.decode::<Value>().ok()) {
        Some(schema) => {
            body.extend(fields(&schema));
            commands
                .push(format!("countersign answer {id} --form FILE   (a JSON object; - reads it)"));
        }
        None => commands.push(format!("countersign approve {id}")),
    }
    commands.push(format!("countersign answer {id} --decline"));
    let title = Line::of(Tone::Bold, &format!("The MCP server {server} asks"));
    Some(Asked { title, body, is_whole: true, about: Vec::new(), commands })
}

/// The fields of a form, a line each.
fn fields(schema: &Value) -> Vec<Line> {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let needed = schema.get("required").and_then(Value::as_array);
    let is_needed = |name: &str| {
        needed.is_some_and(|needed| needed.iter().any(|other| other.as_str() == Some(name)))
    };
    let text = |field: &Value, key: &str| {
        field.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let line = |(name, field): (&String, &Value)| {
        let mut about = text(field, "type");
        if is_needed(name) {
            about.push_str(", needed");
        }
        if let Some(values) = field.get("enum").and_then(Value::as_array) {
            let values: Vec<_> = values.iter().map(Value::to_string).collect();
            about = format!("{about}, one of {}", values.join(" "));
        }
        let words = [text(field, "title"), text(field, "description")].join(" ");
        Line::of(Tone::Accent, &format!("  {name}"))
            .and(Tone::Dim, &format!("  {about}"))
            .and(Tone::Plain, &format!("  {}", words.trim()))
    };
    properties.iter().map(line).collect()
}

/// A request that cannot be read is shown as it is.
fn unreadable(approval: &Approval, id: &str) -> Asked {
    Asked {
        title: Line::of(Tone::Bold, &approval.tool),
        body: lines(Tone::Plain, &tidy(approval.request.as_str())),
        is_whole: true,
        about: Vec::new(),
        commands: vec![
            format!("countersign approve {id}"),
            format!("countersign deny {id} \"why\""),
        ],
    }
}

/// What was asked, on one line.
pub(crate) fn in_a_line(approval: &Approval) -> String {
    const LENGTH: usize = 60;
    let words = match approval.kind {
        ApprovalKind::Plan => "a plan".to_owned(),
        ApprovalKind::EnterPlan => "to make a plan first".to_owned(),
        ApprovalKind::Question => "a question".to_owned(),
        ApprovalKind::Elicitation => format!("a form of {}", approval.tool),
        ApprovalKind::Tool => match approval.permission() {
            Ok(request) => {
                let place = Place::elsewhere("");
                let title =
                    crate::run::view::call::Title::new(&request.tool_name, &request.input, &place);
                format!("{} {}", title.tool, title.object)
            }
            Err(_) => approval.tool.clone(),
        },
    };
    one_line(&words, LENGTH)
}

#[cfg(test)]
mod tests {
    use countersign_server::session::Stage;
    use serde_json::json;

    use super::*;

    fn approval(kind: ApprovalKind, tool: &str, request: Value) -> Approval {
        Approval {
            id: "0192f0c1-2345-7000-8abc-0000abcdef12".parse().unwrap(),
            session: "0192f0c1-2345-7000-8abc-0000abcdef13".parse().unwrap(),
            turn: None,
            kind,
            tool: tool.to_owned(),
            tool_use_id: None,
            agent: None,
            request: request.into(),
            round: Some(2),
            stage: Stage::Open,
            opened_at: "2026-11-16T12:00:00Z".parse().unwrap(),
            given: None,
            delivered_at: None,
            closed_at: None,
            why: None,
        }
    }

    fn shown(approval: &Approval, most: Option<usize>) -> String {
        let lines = Asked::of(approval, "/work").lines(most);
        lines.iter().map(Line::text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_tool_is_shown_with_what_can_be_typed() {
        let request = json!({
            "tool_name": "Bash", "tool_use_id": "t",
            "input": {"command": "npm test\n\u{1b}[2Jrm"},
            "permission_suggestions": [
                {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "npm test"}],
                 "behavior": "allow", "destination": "localSettings"},
            ],
        });
        insta::assert_snapshot!(shown(&approval(ApprovalKind::Tool, "Bash", request), Some(1)), @r#"
        Bash
          npm test
          \u{1b}[2Jrm
          --rule 1: Yes, and don't ask again for Bash(npm test) in this folder (for you)
          countersign approve abcdef12
          countersign approve abcdef12 --rule 1
          countersign deny abcdef12 "why"
        "#);
    }

    #[test]
    fn a_plan_is_cut_in_a_list_and_says_so() {
        let request = json!({
            "tool_name": "ExitPlanMode", "tool_use_id": "t",
            "input": {"plan": "# A\n1. b\n2. c\n3. d\n"},
        });
        let plan = approval(ApprovalKind::Plan, "ExitPlanMode", request);
        insta::assert_snapshot!(shown(&plan, Some(2)), @r#"
        Plan, round 2
          # A
          1. b
          … 2 more lines
          countersign answer abcdef12 --plan accept-edits   (or manual, clear-context)
          countersign answer abcdef12 --plan keep "what to change"
        "#);
        assert!(shown(&plan, None).contains("3. d"));
    }

    #[test]
    fn questions_and_forms_say_how_they_are_answered() {
        let request = json!({
            "tool_name": "AskUserQuestion", "tool_use_id": "t",
            "input": {"questions": [
                {"question": "Which colour?", "header": "Colour", "multiSelect": true, "options": [
                    {"label": "Green", "description": "as grass"}, {"label": "Red", "description": ""}]},
            ]},
        });
        insta::assert_snapshot!(shown(&approval(ApprovalKind::Question, "AskUserQuestion", request), None), @r#"
        Question
          1. Which colour?  (several)
             Green  as grass
             Red
          countersign answer abcdef12 --choose 1=Green
          countersign answer abcdef12 --reply "…"   (or --skip)
        "#);
        let request = json!({
            "mcp_server_name": "shop", "message": "How many?",
            "requested_schema": {"type": "object", "required": ["count"], "properties": {
                "count": {"type": "integer", "title": "Count"},
                "size": {"type": "string", "enum": ["S", "L"]}}},
        });
        insta::assert_snapshot!(shown(&approval(ApprovalKind::Elicitation, "shop", request), None), @r#"
        The MCP server shop asks
          How many?
            count  integer, needed  Count
            size  string, one of "S" "L"  
          countersign answer abcdef12 --form FILE   (a JSON object; - reads it)
          countersign answer abcdef12 --decline
        "#);
    }
}
