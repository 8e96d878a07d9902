//! The grammar of flow collections: lists in `[ ]`, maps in `{ }`.

use super::error::{YamlError, YamlResult, hints};
use super::parser::{
    NodeContext, Parser, ParserState, ParserStep, StepKind, empty_scalar, name, step,
};
use super::token::{Token, TokenKind};

impl Parser<'_> {
    pub(super) fn flow_sequence_entry(&mut self, first: bool) -> YamlResult<ParserStep> {
        let mut token = *self.peek()?;
        if token.kind != TokenKind::FlowSequenceEnd {
            if !first {
                token = self.behind_comma(token, "`,` or `]`", "the list")?;
            }
            match token.kind {
                TokenKind::ScalarKey { .. } => {
                    self.open_collection(token.start)?;
                    self.state = ParserState::PairKey;
                    return Ok(step(StepKind::MappingStart, token.start, token.start));
                }
                TokenKind::Key => {
                    // A single pair stands for a map with one member.
                    self.consume();
                    self.open_collection(token.start)?;
                    self.state = ParserState::PairKey;
                    return Ok(step(StepKind::MappingStart, token.start, token.end));
                }
                TokenKind::FlowSequenceEnd => {}
                _ => {
                    return self.node_then(
                        NodeContext::Flow,
                        ParserState::FlowSequenceEntry { first: false },
                    );
                }
            }
        }
        Ok(self.close(StepKind::SequenceEnd, token))
    }

    pub(super) fn pair_key(&mut self) -> YamlResult<ParserStep> {
        let token = *self.peek()?;
        match token.kind {
            TokenKind::ScalarKey { style, built, .. } => {
                Ok(self.scalar_key(token, style, built, ParserState::PairAfterColon))
            }
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd => {
                // PyYAML loses the token here, which makes most of these texts wrong.
                self.consume();
                self.state = ParserState::PairValue;
                Ok(empty_scalar(token.end))
            }
            _ => self.node_then(NodeContext::Flow, ParserState::PairValue),
        }
    }

    pub(super) fn pair_value(&mut self) -> YamlResult<ParserStep> {
        let token = *self.peek()?;
        if token.kind == TokenKind::Value {
            self.consume();
            return self.pair_after_colon();
        }
        self.state = ParserState::PairEnd;
        Ok(empty_scalar(token.start))
    }

    pub(super) fn pair_after_colon(&mut self) -> YamlResult<ParserStep> {
        let token = *self.peek()?;
        if !matches!(token.kind, TokenKind::FlowEntry | TokenKind::FlowSequenceEnd) {
            return self.node_then(NodeContext::Flow, ParserState::PairEnd);
        }
        self.state = ParserState::PairEnd;
        Ok(empty_scalar(token.start))
    }

    pub(super) fn pair_end(&mut self) -> YamlResult<ParserStep> {
        let at = self.peek()?.start;
        self.open.pop();
        self.state = ParserState::FlowSequenceEntry { first: false };
        Ok(step(StepKind::MappingEnd, at, at))
    }

    pub(super) fn flow_mapping_key(&mut self, first: bool) -> YamlResult<ParserStep> {
        let mut token = *self.peek()?;
        if token.kind != TokenKind::FlowMappingEnd {
            if !first {
                token = self.behind_comma(token, "`,` or `}`", "the map")?;
            }
            match token.kind {
                TokenKind::ScalarKey { style, built, .. } => {
                    let next = ParserState::FlowMappingAfterColon;
                    return Ok(self.scalar_key(token, style, built, next));
                }
                TokenKind::Key => {
                    self.consume();
                    let next = ParserState::FlowMappingValue { empty: false };
                    token = *self.peek()?;
                    if !matches!(
                        token.kind,
                        TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd
                    ) {
                        return self.node_then(NodeContext::Flow, next);
                    }
                    self.state = next;
                    return Ok(empty_scalar(token.start));
                }
                TokenKind::FlowMappingEnd => {}
                _ => {
                    return self.node_then(
                        NodeContext::Flow,
                        ParserState::FlowMappingValue { empty: true },
                    );
                }
            }
        }
        Ok(self.close(StepKind::MappingEnd, token))
    }

    pub(super) fn flow_mapping_value(&mut self, empty: bool) -> YamlResult<ParserStep> {
        let token = *self.peek()?;
        if !empty && token.kind == TokenKind::Value {
            self.consume();
            return self.flow_mapping_after_colon();
        }
        self.state = ParserState::FlowMappingKey { first: false };
        Ok(empty_scalar(token.start))
    }

    pub(super) fn flow_mapping_after_colon(&mut self) -> YamlResult<ParserStep> {
        let next = ParserState::FlowMappingKey { first: false };
        let token = *self.peek()?;
        if !matches!(token.kind, TokenKind::FlowEntry | TokenKind::FlowMappingEnd) {
            return self.node_then(NodeContext::Flow, next);
        }
        self.state = next;
        Ok(empty_scalar(token.start))
    }

    /// Steps over a comma, which must be there, and returns the token after it.
    fn behind_comma(
        &mut self,
        token: Token,
        wanted: &str,
        what: &'static str,
    ) -> YamlResult<Token> {
        if token.kind == TokenKind::FlowEntry {
            self.consume();
            return self.peek().copied();
        }
        let message = format!("expected {wanted}, found {}", name(token.kind));
        let error = YamlError::syntax(message, token.start).help(Some(hints::UNCLOSED_BRACKET));
        Err(error.within(self.opened(), what))
    }
}
