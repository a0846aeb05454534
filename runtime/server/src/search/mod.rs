//! Finds tools by words, in English, Korean and Japanese.
