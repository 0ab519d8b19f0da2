//! From a command line to a session that runs.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Instant;

use super::Launch;
use super::args::{Args, Parsed};
use super::background::Background;
use super::catalog::Catalog;
use super::checkpoint::Checkpoints;
use super::clock::new_uuid;
use super::env::Env;
use super::exec::Tasks;
use super::hooks::Hooks;
use super::json::{Json, Object, obj};
use super::mcp::Servers;
use super::meter::Meter;
use super::past::Past;
use super::permission::Permissions;
use super::plan::Plan;
use super::profile::{self, Profile};
use super::queue::{Queue, Work};
use super::requests::Requests;
use super::session::{self, Options, Session};
use super::settings::Settings;
use super::state::{Life, Sim};
use super::stdio::{Input, Output, complain, print};
use super::thread::Thread;
use super::turn::Tokens;
use super::wheel::turn_the_wheel;
use crate::script::{Answer, Player, Script, When};

/// Runs the simulated CLI to its end.
pub(super) fn run(launch: &Launch) -> ExitCode {
    match prepare(launch) {
        Ok(Prepared::Done(text)) => {
            print(&text);
            ExitCode::SUCCESS
        }
        Ok(Prepared::Session(session)) => session.run(),
        Err(complaint) => {
            complain(&complaint);
            ExitCode::FAILURE
        }
    }
}

enum Prepared {
    /// There was only something to say.
    Done(String),
    Session(Box<Ready>),
}

/// Everything is read and checked.
struct Ready {
    profile: &'static Profile,
    args: Args,
    env: Env,
    settings: Settings,
    player: Player,
}

fn prepare(launch: &Launch) -> Result<Prepared, String> {
    let profile = profile::find(&launch.version).ok_or_else(|| {
        let (wanted, versions) = (&launch.version, super::versions().join(", "));
        format!("error: there is no imitation of version {wanted}; there are {versions}")
    })?;
    let args = match Args::parse(profile, &launch.claude_args) {
        Parsed::Print(text) => return Ok(Prepared::Done(text)),
        Parsed::Refuse(complaint) => return Err(complaint),
        Parsed::Run(args) => *args,
    };
    let env = Env::of_process(launch.state.clone())
        .map_err(|error| format!("error: no working directory: {error}"))?;
    let settings = Settings::read(&args, &env)?;
    let script = match &launch.script {
        Some(path) => Script::load(path).map_err(|error| error.to_string())?,
        None => echo(),
    };
    let mut player = Player::new(script);
    player.set("cwd", env.cwd.display().to_string());
    player.set("home", env.home.display().to_string());
    for (name, value) in &launch.variables {
        player.set(name, value);
    }
    Ok(Prepared::Session(Box::new(Ready { profile, args, env, settings, player })))
}

/// The script that is played when there is none: it says what it was told.
fn echo() -> Script {
    Script::new().when(When::any(), Answer::text("You said: ${text}")).otherwise("…")
}

/// Which session it is, and what is known of it.
struct Beginning {
    id: String,
    past: Option<(PathBuf, Past)>,
}

impl Ready {
    fn run(self) -> ExitCode {
        let beginning = match self.beginning() {
            Ok(beginning) => beginning,
            Err(refusal) => return self.refuse(&refusal),
        };
        let (output, input) = match (Output::start(), Input::start()) {
            (Ok(output), Ok(input)) => (Rc::new(output), input),
            (Err(error), _) | (_, Err(error)) => {
                complain(&format!("error: cannot start: {error}"));
                return ExitCode::FAILURE;
            }
        };
        let sim = self.into_sim(beginning, Rc::clone(&output));
        sim.begin();
        let code = turn_the_wheel(&sim, &input);
        drop(sim);
        if let Some(mut output) = Rc::into_inner(output) {
            output.finish();
        }
        ExitCode::from(code)
    }

    fn beginning(&self) -> Result<Beginning, Refusal> {
        let found = if let Some(wanted) = &self.args.resume {
            Some(self.find(wanted)?)
        } else if self.args.continue_latest {
            session::latest(&self.env)
        } else {
            None
        };
        let up_to = self.args.resume_at.as_deref();
        if let (Some(path), Some(uuid)) = (&found, up_to)
            && Past::read(path, up_to).is_none()
        {
            return Err(Refusal::with_result(format!(
                "No message found with message.uuid of: {uuid}"
            )));
        }
        let past = found.and_then(|path| Some((path.clone(), Past::read(&path, up_to)?)));
        if let (Some(wanted), None) = (&self.args.resume, &past) {
            return Err(Refusal::with_result(format!(
                "No conversation found with session ID: {wanted}"
            )));
        }
        let same = past.as_ref().filter(|_| !self.args.fork_session);
        let id = match (same, &self.args.session_id) {
            (Some((path, _)), _) => stem(path),
            (None, Some(id)) => {
                if session::find(&self.env, id, false).is_some() {
                    return Err(Refusal::plain(format!(
                        "Error: Session ID {id} is already in use."
                    )));
                }
                id.clone()
            }
            (None, None) => new_uuid(),
        };
        Ok(Beginning { id, past })
    }

    fn find(&self, wanted: &str) -> Result<PathBuf, Refusal> {
        if uuid::Uuid::parse_str(wanted).is_ok() {
            return session::find(&self.env, wanted, self.profile.resumes_anywhere).ok_or_else(
                || Refusal::with_result(format!("No conversation found with session ID: {wanted}")),
            );
        }
        let titled = session::by_title(&self.env, wanted).filter(|_| self.profile.resumes_by_title);
        titled.ok_or_else(|| {
            if !self.profile.resumes_by_title {
                return Refusal::with_result(format!("Error: --resume requires a valid session ID when used with --print. Usage: claude -p --resume <session-id>. Session IDs must be in UUID format (e.g., 550e8400-e29b-41d4-a716-446655440000). Provided value \"{wanted}\" is not a valid UUID"));
            }
            let text = format!(
                "Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume <session-id|title>. Provided value \"{wanted}\" is not a UUID and does not match any session title."
            );
            Refusal::with_result(text)
        })
    }

    /// The session of a result that is told before anything has begun: newer versions name the one
    /// that was asked for.
    fn told_session(&self) -> String {
        let asked = self.args.resume.clone().filter(|id| uuid::Uuid::parse_str(id).is_ok());
        asked.filter(|_| self.profile.modern).unwrap_or_else(new_uuid)
    }

    /// Ends before anything has begun.
    fn refuse(&self, refusal: &Refusal) -> ExitCode {
        if refusal.in_result {
            let frame = obj! {
                "type": "result",
                "subtype": "error_during_execution",
                "duration_ms": 0,
                "duration_api_ms": 0,
                "is_error": true,
                "num_turns": 0,
                "stop_reason": Json::Null,
                "session_id": self.told_session(),
                "total_cost_usd": 0,
                "usage": Tokens::default().of_result(self.profile),
                "modelUsage": Object::default(),
                "permission_denials": Vec::<Json>::new(),
                "uuid": new_uuid(),
                "errors": vec![refusal.text.as_str()],
                "result_index"?: self.profile.internals.then_some(0),
            };
            print(&frame.to_string());
        }
        complain(&refusal.text);
        ExitCode::FAILURE
    }

    fn into_sim(self, beginning: Beginning, out: Rc<Output>) -> Rc<Sim> {
        let Self { profile, args, env, settings, mut player } = self;
        let options = Options {
            ephemeral: args.no_persistence,
            writes_at_once: profile.writes_at_once,
            mirror: args.session_mirror,
        };
        let mut session = Session::new(&env, profile.version, beginning.id, options);
        let catalog =
            Catalog::read(profile, &env.cwd.to_string_lossy(), &env.config_home.to_string_lossy());
        let mut thread = Thread::new(false);
        let mut queue = Queue::default();
        let mut plan = Plan::default();
        let mut meter = Meter::default();
        let mut model = args.model.as_deref().map(|name| catalog.resolve_model(name));
        if let Some((path, past)) = &beginning.past {
            queue_unfinished(profile, &env, past, &mut queue);
            past.restore(profile, queue.runs_again(), &mut thread);
            if let Some(progress) = &past.progress {
                player.go_on_from(progress.clone());
            }
            if let Some(prompt) = &past.first_prompt {
                plan.note_prompt(prompt);
            }
            if args.fork_session {
                session.copy_from(path);
            }
            session.adopt(past);
            if profile.cost_survives {
                meter.earlier_cost = past.cost;
            }
            if profile.resumes_model {
                model = model.or_else(|| past.model(profile));
            }
        }
        let model = model.unwrap_or_else(|| catalog.default_model().to_owned());
        let permissions = Permissions::new(profile, &args, &env, &settings);
        let mut servers = Servers::default();
        servers.read_config(&args.mcp_config);
        let misbehaviour = player.script().misbehaviour.clone();
        Rc::new(Sim {
            profile,
            catalog,
            permissions: RefCell::new(permissions),
            session: RefCell::new(session),
            thread: RefCell::new(thread),
            queue: RefCell::new(queue),
            servers: RefCell::new(servers),
            misbehaviour: RefCell::new(misbehaviour),
            player: RefCell::new(player),
            last_meter: RefCell::new(meter.clone()),
            meter: RefCell::new(meter),
            model: RefCell::new(model),
            settings: RefCell::new(settings),
            args,
            env,
            out,
            tasks: Tasks::default(),
            requests: Requests::default(),
            plan: RefCell::new(plan),
            hooks: RefCell::new(Hooks::default()),
            background: RefCell::new(Background::default()),
            checkpoints: RefCell::new(Checkpoints::default()),
            turn: RefCell::new(None),
            read_files: RefCell::default(),
            unchanged: RefCell::default(),
            variables: RefCell::default(),
            todos: RefCell::default(),
            answers: Cell::new(0),
            safety_stops: Cell::new(0),
            life: Life::default(),
            started: Instant::now(),
        })
    }
}

/// Why a session does not begin.
struct Refusal {
    text: String,
    /// It is told as a result, too.
    in_result: bool,
}

impl Refusal {
    fn plain(text: String) -> Self {
        Self { text, in_result: false }
    }

    fn with_result(text: String) -> Self {
        Self { text, in_result: true }
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// What an earlier process left undone.
fn queue_unfinished(profile: &Profile, env: &Env, past: &Past, queue: &mut Queue) {
    if !profile.parks {
        return;
    }
    if let Some(deferred) = past.deferred_call() {
        queue.push(Work::Deferred(deferred));
    } else if env.is_on("CLAUDE_CODE_RESUME_INTERRUPTED_TURN")
        && let Some(prompt) = &past.unanswered
    {
        queue.push(Work::Rerun { prompt_uuid: prompt.clone() });
    }
}
