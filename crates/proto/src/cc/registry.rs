//! What a controller declares of itself, and how it is found by its name.

use super::{Build, CongestionControl, controllers};
use airtcp_wire::Dur;
use airtcp_wire::spelling::{hint, nearest};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A numeric parameter of a controller.
#[derive(Clone, Copy, Debug)]
pub struct Param<'a> {
    pub name: &'a str,
    pub default: f64,
    /// Inclusive bounds.
    pub min: f64,
    pub max: f64,
    /// Meaning, unit and source.
    pub doc: &'a str,
}

/// One entry of the registry.
pub struct ControllerSpec {
    pub name: &'static str,
    /// One line for `airtcp schemes`.
    pub summary: &'static str,
    /// RFC, draft or paper with section.
    pub source: &'static str,
    pub params: &'static [Param<'static>],
    /// Pairs of parameters of which the first must not exceed the second.
    pub ordered: &'static [(&'static str, &'static str)],
    /// Keys of the stack that it needs, with their values.
    pub changes: &'static [(&'static str, &'static str)],
    /// Departures from what the tests expect of a loss-based controller.
    pub exemptions: &'static [Exemption],
    pub build: fn(&Build, &Values) -> Box<dyn CongestionControl>,
}

/// A way in which a controller differs from RFC 5681's.
#[derive(Clone, Copy, Debug)]
pub enum Exemption {
    /// Delay alone may shrink its window.
    DelayBased,
    /// Only ECN indicates congestion: a loss, even one found by the timer, may leave its window as it is.
    EcnOnly,
    /// Maximum growth at a smoothed RTT, in bytes per acknowledged byte, beside one segment. The others' is one, so that slow start at
    /// most doubles the window per round trip.
    Gain(fn(Dur) -> f64),
}

/// Checked values of all parameters of a controller.
#[derive(Clone, Debug, Default)]
pub struct Values(BTreeMap<Cow<'static, str>, f64>);

impl Values {
    /// # Panics
    /// If the controller's spec has no such parameter.
    pub fn get(&self, name: &str) -> f64 {
        *self.0.get(name).unwrap_or_else(|| panic!("parameter `{name}` is not declared"))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, &value)| (&**name, value))
    }
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RegistryError {
    #[error("unknown congestion control `{name}`{}; known: {known}", hint(.nearest))]
    UnknownController { name: String, nearest: Option<String>, known: String },
    #[error("`{controller}` has no parameter `{name}`{}; it has: {known}", hint(.nearest))]
    UnknownParam { controller: String, name: String, nearest: Option<String>, known: String },
    #[error("`{controller}`: {name} = {value} is out of range: {min} to {max}")]
    OutOfRange { controller: String, name: String, value: f64, min: f64, max: f64 },
    #[error(
        "`{controller}`: {low} = {low_value} exceeds {high} = {high_value}: lower {low} to {high_value} or less, or raise \
         {high} to {low_value} or more"
    )]
    OutOfOrder { controller: String, low: String, low_value: f64, high: String, high_value: f64 },
}

/// Looks a controller up.
///
/// # Errors
/// [`RegistryError::UnknownController`] with the nearest name.
pub fn find(name: &str) -> Result<&'static ControllerSpec, RegistryError> {
    controllers().iter().copied().find(|spec| spec.name == name).ok_or_else(|| unknown(name, [].into_iter()))
}

/// The error for a name that is neither in the registry nor among `given`.
pub(super) fn unknown<'a>(name: &str, given: impl Iterator<Item = &'a str>) -> RegistryError {
    let known: Vec<_> = controllers().iter().map(|spec| spec.name).chain(given).collect();
    RegistryError::UnknownController {
        name: name.to_owned(),
        nearest: nearest(name, known.iter().copied()),
        known: known.join(", "),
    }
}

/// Checks `given` against the controller's parameters and fills in the defaults.
///
/// # Errors
/// [`RegistryError`] for an unknown name, a value out of range, or two that are out of order.
pub fn values(spec: &'static ControllerSpec, given: &BTreeMap<String, f64>) -> Result<Values, RegistryError> {
    check(spec, spec.params, given)
}

/// As [`values`], for another form of the controller, which has these `params`.
///
/// # Errors
/// As [`values`].
pub fn check(
    spec: &'static ControllerSpec,
    params: &[Param<'static>],
    given: &BTreeMap<String, f64>,
) -> Result<Values, RegistryError> {
    let values = checked(spec.name, params, given, Cow::Borrowed)?;
    spec.ordered.iter().try_for_each(|&pair| in_order(spec.name, pair, &values))?;
    Ok(values)
}

fn in_order(controller: &str, (low, high): (&str, &str), values: &Values) -> Result<(), RegistryError> {
    let (low_value, high_value) = (values.get(low), values.get(high));
    if low_value <= high_value {
        return Ok(());
    }
    let [controller, low, high] = [controller, low, high].map(str::to_owned);
    Err(RegistryError::OutOfOrder { controller, low, low_value, high, high_value })
}

/// As [`values`], for a controller with these `params`, but without a check of their order. `key` makes a parameter's name a key of the
/// values.
pub(super) fn checked<'a>(
    controller: &str,
    params: &[Param<'a>],
    given: &BTreeMap<String, f64>,
    key: impl Fn(&'a str) -> Cow<'static, str>,
) -> Result<Values, RegistryError> {
    let mut values: BTreeMap<_, _> = params.iter().map(|param| (key(param.name), param.default)).collect();
    for (name, &value) in given {
        let param =
            params.iter().find(|param| param.name == name).ok_or_else(|| RegistryError::UnknownParam {
                controller: controller.to_owned(),
                name: name.clone(),
                nearest: nearest(name, params.iter().map(|param| param.name)),
                known: params.iter().map(|param| param.name).collect::<Vec<_>>().join(", "),
            })?;
        let Param { min, max, .. } = *param;
        if !(min..=max).contains(&value) {
            let (controller, name) = (controller.to_owned(), name.clone());
            return Err(RegistryError::OutOfRange { controller, name, value, min, max });
        }
        values.insert(key(param.name), value);
    }
    Ok(Values(values))
}

/// Builds the controller called `name` with the parameters `given`.
///
/// # Errors
/// [`RegistryError`] for an unknown controller, and as [`values`].
pub fn build(
    name: &str,
    given: &BTreeMap<String, f64>,
    build: &Build,
) -> Result<Box<dyn CongestionControl>, RegistryError> {
    let spec = find(name)?;
    Ok((spec.build)(build, &values(spec, given)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(name: &str, value: f64) -> BTreeMap<String, f64> {
        BTreeMap::from([(name.to_owned(), value)])
    }

    #[test]
    fn wrong_names_get_the_nearest_one() {
        let message = |name| find(name).map(|spec| spec.name).unwrap_err().to_string();
        assert!(message("cubik").contains("did you mean `cubic`?"));
        assert!(message("quantum").contains("known: "));
        let error = values(find("cubic").unwrap(), &given("betta", 0.5)).unwrap_err();
        assert!(error.to_string().contains("did you mean `beta`?"), "{error}");
    }

    #[test]
    fn values_are_checked_and_defaults_filled_in() {
        let cubic = find("cubic").unwrap();
        let values_of = |value| values(cubic, &given("beta", value));
        assert!(matches!(values_of(1.5), Err(RegistryError::OutOfRange { name, .. }) if name == "beta"));
        assert!(matches!(values_of(f64::NAN), Err(RegistryError::OutOfRange { .. })));
        let values = values_of(0.5).unwrap();
        assert_eq!((values.get("beta"), values.get("c")), (0.5, 0.4));
    }

    /// For each controller whose parameters have an order; it holds for defaults, too.
    #[test]
    fn values_that_are_out_of_order_are_refused_with_the_cure() {
        for (name, alpha, beta) in [("westwood-vt", 14.0, 16.0), ("vegas", 2.0, 4.0)] {
            let spec = find(name).unwrap();
            let error = |key, value| values(spec, &given(key, value)).unwrap_err().to_string();
            let message = |alpha: f64, beta: f64| {
                format!(
                    "`{name}`: alpha = {alpha} exceeds beta = {beta}: lower alpha to {beta} or less, or raise beta to \
                     {alpha} or more"
                )
            };
            assert_eq!(error("alpha", 20.5), message(20.5, beta));
            assert_eq!(error("beta", 1.5), message(alpha, 1.5));
            let both = |beta| {
                values(spec, &[given("alpha", 20.5), given("beta", beta)].into_iter().flatten().collect())
            };
            assert!(both(20.5).is_ok() && both(20.0).is_err());
        }
    }
}
