//! Answers to questions, as they are typed.

use std::convert::Infallible;
use std::str::FromStr;

use countersign::permission::{AskKind, PermissionAsk};
use countersign::protocol::tool::Question;
use countersign_server::session::{Answer, Approval, QuestionAnswer};

use crate::failure::{Exit, Failure};

/// Something that is said to a question: `1=Green`, or `Green` where there is one question only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbered {
    /// Which question, from 1.
    question: Option<usize>,
    /// What is said to it.
    said: String,
    /// All of it.
    whole: String,
}

impl FromStr for Numbered {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let whole = text.to_owned();
        let numbered = text
            .split_once('=')
            .and_then(|(number, said)| Some((number.trim().parse().ok()?, said.to_owned())));
        Ok(match numbered {
            Some((number, said)) => Self { question: Some(number), said, whole },
            None => Self { question: None, said: text.to_owned(), whole },
        })
    }
}

fn wrong(words: String) -> Failure {
    Failure::new(words).hint("`countersign inbox` shows the questions.").code(Exit::Usage)
}

/// The answers to the questions of an approval.
pub(super) fn answers(
    asked: &Approval,
    choose: &[Numbered],
    text: &[Numbered],
    note: &[Numbered],
) -> Result<Answer, Failure> {
    let request = asked.permission()?;
    let AskKind::Questions(ask) = PermissionAsk::again(request).into_kind() else {
        return Err(wrong("there are no questions in it".to_owned()));
    };
    answers_to(ask.questions(), choose, text, note).map(Answer::Answers)
}

fn answers_to(
    questions: &[Question],
    choose: &[Numbered],
    text: &[Numbered],
    note: &[Numbered],
) -> Result<Vec<QuestionAnswer>, Failure> {
    let mut all = vec![QuestionAnswer::default(); questions.len()];
    for said in choose {
        let (at, said) = meant(said, questions.len())?;
        let label = label(questions.get(at), said)
            .ok_or_else(|| wrong(format!("question {} has no answer {said:?}", at + 1)))?;
        if let Some(answer) = all.get_mut(at) {
            answer.choose.push(label);
        }
    }
    for (given, is_note) in
        text.iter().map(|said| (said, false)).chain(note.iter().map(|said| (said, true)))
    {
        let (at, said) = meant(given, questions.len())?;
        let Some(answer) = all.get_mut(at) else { continue };
        let place = if is_note { &mut answer.note } else { &mut answer.text };
        if place.replace(said.to_owned()).is_some() {
            return Err(wrong(format!("question {} is answered twice", at + 1)));
        }
    }
    Ok(all)
}

/// Which question is meant, from 0, and what is said to it.
fn meant(said: &Numbered, questions: usize) -> Result<(usize, &str), Failure> {
    match said.question.and_then(|number| number.checked_sub(1)) {
        Some(at) if at < questions => Ok((at, &said.said)),
        // The only question takes all of it, also what looks like a number.
        _ if questions == 1 => Ok((0, &said.whole)),
        Some(_) => Err(wrong(format!("there are {questions} questions: {:?}", said.whole))),
        None => Err(wrong(format!(
            "there are {questions} questions: say which one, as 1={}",
            said.whole
        ))),
    }
}

/// The label that is meant: as it is, in whatever case, or by its number.
fn label(question: Option<&Question>, said: &str) -> Option<String> {
    let options = &question?.options;
    let exact = options.iter().find(|option| option.label == said);
    let similar = || {
        let said = said.trim().to_lowercase();
        let mut fitting = options.iter().filter(|option| option.label.to_lowercase() == said);
        fitting.next().filter(|_| fitting.next().is_none())
    };
    let numbered = || {
        let number: usize = said.trim().parse().ok()?;
        options.get(number.checked_sub(1)?)
    };
    let found = exact.or_else(similar).or_else(numbered);
    found.map(|option| option.label.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions(count: usize) -> Vec<Question> {
        let all = r#"[
            {"question":"Which colour?","header":"Colour","multiSelect":false,"options":[
                {"label":"Green","description":""},{"label":"Dark red","description":""}]},
            {"question":"Which sizes?","header":"Sizes","multiSelect":true,"options":[
                {"label":"2","description":""},{"label":"1","description":""}]}
        ]"#;
        let mut all: Vec<Question> = serde_json::from_str(all).unwrap();
        all.truncate(count);
        all
    }

    fn numbered(all: &[&str]) -> Vec<Numbered> {
        all.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn chosen(count: usize, choose: &[&str]) -> Result<Vec<Vec<String>>, String> {
        let all = answers_to(&questions(count), &numbered(choose), &[], &[]);
        all.map(|all| all.into_iter().map(|answer| answer.choose).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn labels_are_chosen_by_name_and_by_number() {
        assert_eq!(chosen(1, &["Green"]).unwrap(), [["Green"]]);
        assert_eq!(chosen(1, &["1=dark RED"]).unwrap(), [["Dark red"]]);
        assert_eq!(chosen(1, &["2"]).unwrap(), [["Dark red"]]);
        // A label that is a number counts before the number of a label.
        let all = chosen(2, &["1=Green", "2=1", "2=2"]).unwrap();
        assert_eq!(all, [vec!["Green"], vec!["1", "2"]]);
    }

    #[test]
    fn what_is_meant_is_not_guessed() {
        assert!(chosen(2, &["Green"]).unwrap_err().contains("say which one"));
        assert!(chosen(2, &["3=Green"]).unwrap_err().contains("there are 2 questions"));
        assert!(chosen(2, &["0=Green"]).unwrap_err().contains("2 questions"));
        assert!(chosen(1, &["Blue"]).unwrap_err().contains("no answer \"Blue\""));
    }

    #[test]
    fn words_of_ones_own_are_kept_as_they_are() {
        let all = answers_to(
            &questions(2),
            &[],
            &numbered(&["1=a=b", "2= both "]),
            &numbered(&["1=soon"]),
        );
        let all = all.unwrap();
        assert_eq!(all[0].text.as_deref(), Some("a=b"));
        assert_eq!(all[0].note.as_deref(), Some("soon"));
        assert_eq!(all[1].text.as_deref(), Some(" both "));
        let twice = answers_to(&questions(1), &[], &numbered(&["1=a", "1=b"]), &[]);
        assert!(twice.unwrap_err().to_string().contains("answered twice"));
    }
}
