//! What epoll reports on.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token {
    Stop,
    /// The device of our own stack.
    Stack,
    /// The way from there into a circuit.
    Circuit,
    /// The link behind the device.
    Link,
    /// By the listener's index.
    Listener(usize),
    /// The end of a relay, by the relay's place and the end's index.
    End(usize, usize),
}

impl Token {
    pub fn pack(self) -> u64 {
        match self {
            Token::Stop => 0,
            Token::Stack => 1 << 2,
            Token::Circuit => 2 << 2,
            Token::Link => 3 << 2,
            Token::Listener(index) => (index as u64) << 2 | 1,
            Token::End(place, end) => (place as u64) << 2 | 2 | end as u64,
        }
    }

    pub fn unpack(word: u64) -> Token {
        let index = (word >> 2) as usize;
        match word & 3 {
            0 if index == 0 => Token::Stop,
            0 if index == 1 => Token::Stack,
            0 if index == 2 => Token::Circuit,
            0 => Token::Link,
            1 => Token::Listener(index),
            kind => Token::End(index, kind as usize & 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_token() {
        for token in [
            Token::Stop,
            Token::Stack,
            Token::Circuit,
            Token::Link,
            Token::Listener(3),
            Token::End(0, 0),
            Token::End(7, 1),
            Token::End(1 << 40, 0),
        ] {
            assert_eq!(Token::unpack(token.pack()), token);
        }
    }
}
