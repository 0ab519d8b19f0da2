//! The texts of an answer in which variables are replaced: one walk over all of them.

use std::convert::Infallible;

use serde_json::Value;

use super::answer::{Answer, Block, Ending};

/// Shows every text of an answer in which variables are replaced.
pub(super) fn each_text(answer: &Answer, see: &mut impl FnMut(&str)) {
    // To see each text is to replace it by itself; so the two cannot fall apart.
    let mut copy = answer.clone();
    let seen: Result<(), Infallible> = map_texts(&mut copy, &mut |text| {
        see(text);
        Ok(None)
    });
    match seen {
        Ok(()) => {}
        Err(never) => match never {},
    }
}

/// Replaces the texts of an answer, all but those for which `new` has none.
pub(super) fn map_texts<E>(
    answer: &mut Answer,
    new: &mut impl FnMut(&str) -> Result<Option<String>, E>,
) -> Result<(), E> {
    let mut replace = |text: &mut String| -> Result<(), E> {
        if let Some(new) = new(text)? {
            *text = new;
        }
        Ok(())
    };
    for block in &mut answer.blocks {
        match block {
            Block::Text(text) | Block::Thinking(text) => replace(text)?,
            Block::ToolUse(call) => {
                replace(&mut call.name)?;
                call.id.as_mut().map_or(Ok(()), &mut replace)?;
                call.result.as_mut().map_or(Ok(()), &mut replace)?;
                map_json(&mut call.input, &mut replace)?;
            }
            Block::Fault(_) => {}
        }
    }
    answer.stop_reason.as_mut().map_or(Ok(()), &mut replace)?;
    answer.model.as_mut().map_or(Ok(()), &mut replace)?;
    match &mut answer.ending {
        Ending::Error(error) | Ending::StreamError { error, .. } => {
            replace(&mut error.kind)?;
            replace(&mut error.message)
        }
        Ending::Complete | Ending::Cut { .. } | Ending::Hang { .. } | Ending::Reset => Ok(()),
    }
}

fn map_json<E>(
    value: &mut Value,
    replace: &mut impl FnMut(&mut String) -> Result<(), E>,
) -> Result<(), E> {
    match value {
        Value::String(text) => replace(text),
        Value::Array(items) => items.iter_mut().try_for_each(|item| map_json(item, replace)),
        Value::Object(fields) => fields.values_mut().try_for_each(|field| map_json(field, replace)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}
