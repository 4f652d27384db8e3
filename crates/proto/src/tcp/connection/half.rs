//! A half of a connection, awake or at rest.

/// One of the two halves of a connection: a `T`, or while it rests what remains of it.
pub enum Half<T, Rest> {
    Awake(Box<T>),
    AtRest(Rest),
}

impl<T, Rest> Half<T, Rest> {
    pub fn new(half: T) -> Half<T, Rest> {
        Half::Awake(Box::new(half))
    }

    /// The half, unless it rests.
    #[inline(always)]
    pub fn get(&self) -> Option<&T> {
        match self {
            Half::Awake(half) => Some(half),
            Half::AtRest(_) => None,
        }
    }

    /// [`get`](Half::get), to change it.
    #[inline(always)]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        match self {
            Half::Awake(half) => Some(half),
            Half::AtRest(_) => None,
        }
    }

    /// The half, which `wake` makes again if it rests.
    #[inline(always)]
    pub fn wake_by(&mut self, wake: impl FnOnce(&Rest) -> T) -> &mut T {
        if let Half::AtRest(rest) = self {
            *self = Half::new(wake(rest));
        }
        match self {
            Half::Awake(half) => half,
            Half::AtRest(_) => unreachable!("it has just been woken"),
        }
    }
}
