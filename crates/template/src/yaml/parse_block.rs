//! The grammar of block collections: lists of `- ` and maps by indentation.

use super::cursor::Mark;
use super::error::{YamlError, YamlResult, hints};
use super::parser::{
    NodeContext, Parser, ParserState, ParserStep, StepKind, empty_scalar, name, step,
};
use super::token::TokenKind;

impl Parser<'_> {
    pub(super) fn block_sequence_entry(&mut self) -> YamlResult<ParserStep> {
        let token = *self.peek()?;
        match token.kind {
            TokenKind::BlockEntry => {
                self.consume();
                match self.peek()?.kind {
                    TokenKind::BlockEntry | TokenKind::BlockEnd => Ok(empty_scalar(token.end)),
                    _ => self.node_then(NodeContext::Block, ParserState::BlockSequenceEntry),
                }
            }
            TokenKind::BlockEnd => Ok(self.close(StepKind::SequenceEnd, token)),
            _ => {
                let message =
                    format!("expected `- ` or the end of the list, found {}", name(token.kind));
                let error = YamlError::syntax(message, token.start);
                Err(error.within(self.opened(), "the list").help(Some(hints::INDENTATION)))
            }
        }
    }

    pub(super) fn indentless_entry(&mut self) -> YamlResult<ParserStep> {
        let token = *self.peek()?;
        if token.kind != TokenKind::BlockEntry {
            self.open.pop();
            self.pop_state();
            return Ok(step(StepKind::SequenceEnd, token.start, token.start));
        }
        self.consume();
        match self.peek()?.kind {
            TokenKind::BlockEntry
            | TokenKind::Key
            | TokenKind::ScalarKey { .. }
            | TokenKind::Value
            | TokenKind::BlockEnd => Ok(empty_scalar(token.end)),
            _ => self.node_then(NodeContext::Block, ParserState::IndentlessEntry),
        }
    }

    pub(super) fn block_mapping_key(&mut self) -> YamlResult<ParserStep> {
        let token = *self.peek()?;
        match token.kind {
            TokenKind::ScalarKey { style, gap, built } => {
                let behind = u32::from(gap) + 1;
                let Mark { offset, line, column } = token.end;
                self.after_colon = Mark { offset: offset + behind, line, column: column + behind };
                Ok(self.scalar_key(token, style, built, ParserState::BlockMappingBehindColon))
            }
            TokenKind::Key => {
                self.consume();
                self.block_member(token.end, ParserState::BlockMappingValue)
            }
            TokenKind::BlockEnd => Ok(self.close(StepKind::MappingEnd, token)),
            _ => {
                let message =
                    format!("expected a key or the end of the map, found {}", name(token.kind));
                let error = YamlError::syntax(message, token.start);
                Err(error.within(self.opened(), "the map").help(Some(hints::INDENTATION)))
            }
        }
    }

    pub(super) fn block_mapping_value(&mut self) -> YamlResult<ParserStep> {
        let token = *self.peek()?;
        if token.kind != TokenKind::Value {
            self.state = ParserState::BlockMappingKey;
            return Ok(empty_scalar(token.start));
        }
        self.consume();
        self.block_member(token.end, ParserState::BlockMappingKey)
    }

    /// A key or value of a block mapping, which may be missing.
    pub(super) fn block_member(&mut self, at: Mark, next: ParserState) -> YamlResult<ParserStep> {
        match self.peek()?.kind {
            TokenKind::Key
            | TokenKind::ScalarKey { .. }
            | TokenKind::Value
            | TokenKind::BlockEnd => {
                self.state = next;
                Ok(empty_scalar(at))
            }
            _ => self.node_then(NodeContext::BlockMember, next),
        }
    }
}
