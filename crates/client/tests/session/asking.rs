//! What the tests of permissions, plans, questions and hooks have in common.

use std::sync::{Arc, Mutex};

use countersign::permission::{IntoAnswer, PermissionAsk, PermissionHandler};
use countersign::protocol::ask::CanUseTool;
use countersign::turn::Outcome;
use countersign::{Session, SessionBuilder};
use countersign_lab::Lab;
use libtest_mimic::{Failed, Trial};

use crate::kit::{Cli, on_all, soon};

/// A list that a handler fills and a test reads.
#[derive(Clone)]
pub(crate) struct Noted<T>(Arc<Mutex<Vec<T>>>);

impl<T> Default for Noted<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Clone> Noted<T> {
    pub(crate) fn note(&self, what: T) {
        self.0.lock().unwrap().push(what);
    }

    pub(crate) fn all(&self) -> Vec<T> {
        self.0.lock().unwrap().clone()
    }

    /// Waits until there are so many.
    pub(crate) async fn count(&self, count: usize) -> Vec<T> {
        soon("what is waited for", async {
            while self.all().len() < count {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            self.all()
        })
        .await
    }
}

/// What was asked.
pub(crate) type Asked = Noted<CanUseTool>;

impl Asked {
    /// A handler that notes what it is asked, and answers with this.
    pub(crate) fn answering<T: IntoAnswer + Send + 'static>(
        &self,
        answer: impl Fn(PermissionAsk) -> T + Send + Sync + 'static,
    ) -> Answering<T> {
        Answering { asked: self.clone(), answer: Box::new(answer) }
    }

    /// The tools that were asked for.
    pub(crate) fn tools(&self) -> Vec<String> {
        self.all().into_iter().map(|ask| ask.tool_name).collect()
    }
}

/// A handler that notes what it is asked.
pub(crate) struct Answering<T> {
    asked: Asked,
    answer: Box<dyn Fn(PermissionAsk) -> T + Send + Sync>,
}

impl<T: IntoAnswer + Send + 'static> PermissionHandler for Answering<T> {
    async fn decide(
        &self,
        ask: PermissionAsk,
    ) -> Result<countersign::permission::PermissionAnswer, countersign::permission::HandlerFailure>
    {
        self.asked.note(ask.request().clone());
        (self.answer)(ask).into_answer()
    }
}

/// [`on_all`] for what the simulated CLI does not do.
pub(crate) fn on_real<F: Future<Output = crate::kit::Outcome> + 'static>(
    name: &str,
    since: countersign_lab::Version,
    test: fn(Cli) -> F,
) -> Vec<Trial> {
    let mut trials = on_all(name, since, test);
    trials.retain(|trial| !trial.name().contains("simulated"));
    trials
}

/// Starts a session.
pub(crate) async fn start(builder: SessionBuilder) -> Result<Session, Failed> {
    Ok(soon("the start", builder.connect()).await?)
}

/// Says something, and waits for the end of the turn.
pub(crate) async fn say(session: &mut Session, text: &str) -> Result<Outcome, Failed> {
    Ok(soon("the turn", session.send(text).await?.finish()).await?)
}

/// A script of these calls, one after the other, and of these words.
pub(crate) fn calls(calls: &[(&str, &str)], then: &str) -> String {
    let calls = calls.iter().map(|(tool, input)| {
        format!("[[answer]]\ntool = {{ name = \"{tool}\", input_json = '''{input}''' }}\n\n")
    });
    calls.chain([format!("[[answer]]\ntext = \"{then}\"\n")]).collect()
}

/// The input of `Write` for a file in the working folder.
pub(crate) fn write(file: &str) -> String {
    format!(r#"{{"file_path": "${{cwd}}/{file}", "content": "new\n"}}"#)
}

/// The bodies of the requests of the conversation that the model got. The simulated CLI plays the
/// script itself, and has none.
pub(crate) fn requests(cli: Cli, lab: &Lab) -> Option<Vec<serde_json::Value>> {
    matches!(cli, Cli::Real(_)).then(|| {
        lab.model()
            .model_requests()
            .iter()
            .filter(|request| request.kind == Some(countersign_lab::script::RequestKind::Main))
            .map(|request| request.body.clone())
            .collect()
    })
}
