//! State of numbers, flags, and texts.

use super::{State, StateError, StateReader, StateWriter, Value};
use crate::time::Time;
use crate::units::{Bandwidth, Bytes, Energy, Power, Rate, Ratio};

/// Implements `State` and `Value` for a number of fixed width. Lists of such numbers are copied as one block.
macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl State for $number {
            fn save(&self, state: &mut StateWriter) {
                state.put(&self.to_le_bytes());
            }

            fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
                *self = Value::read(state)?;
                Ok(())
            }

            fn save_each(each: &[$number], state: &mut StateWriter) {
                let places = state.places::<{ size_of::<$number>() }>(each.len());
                places.iter_mut().zip(each).for_each(|(place, one)| *place = one.to_le_bytes());
            }

            fn restore_each(each: &mut [$number], state: &mut StateReader<'_>) -> Result<(), StateError> {
                let places = state.places::<{ size_of::<$number>() }>(each.len())?;
                each.iter_mut().zip(places).for_each(|(one, &place)| *one = <$number>::from_le_bytes(place));
                Ok(())
            }
        }

        impl Value for $number {
            const BYTES_MIN: usize = size_of::<$number>();

            fn read(state: &mut StateReader<'_>) -> Result<$number, StateError> {
                Ok(<$number>::from_le_bytes(state.places(1)?[0]))
            }

            fn read_list(count: usize, state: &mut StateReader<'_>) -> Result<Vec<$number>, StateError> {
                let places = state.places::<{ size_of::<$number>() }>(count)?;
                Ok(places.iter().map(|&place| <$number>::from_le_bytes(place)).collect())
            }
        }
    )+};
}

numbers!(u8, u16, u32, u64, u128, i8, i16, i32, i64, f32, f64);

/// Implements `State` and `Value` for a quantity that is stored as a number.
macro_rules! quantities {
    ($($quantity:ty: $number:ty = $get:expr, $make:expr;)+) => {$(
        impl State for $quantity {
            fn save(&self, state: &mut StateWriter) {
                let number: fn(&$quantity) -> $number = $get;
                number(self).save(state);
            }

            fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
                *self = Value::read(state)?;
                Ok(())
            }
        }

        impl Value for $quantity {
            const BYTES_MIN: usize = size_of::<$number>();

            fn read(state: &mut StateReader<'_>) -> Result<$quantity, StateError> {
                Ok($make(<$number>::read(state)?))
            }
        }
    )+};
}

quantities! {
    Time: u64 = |time| time.as_ps(), Time::from_ps;
    Bytes: u64 = |bytes| bytes.0, Bytes;
    Energy: f64 = |energy| energy.0, Energy;
    Power: f64 = |power| power.0, Power;
    Ratio: f64 = |ratio| ratio.0, Ratio;
    Rate: f64 = |rate| rate.0, Rate;
    Bandwidth: f64 = |bandwidth| bandwidth.0, Bandwidth;
}

impl State for usize {
    fn save(&self, state: &mut StateWriter) {
        (*self as u64).save(state);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        *self = Value::read(state)?;
        Ok(())
    }
}

impl Value for usize {
    const BYTES_MIN: usize = 8;

    fn read(state: &mut StateReader<'_>) -> Result<usize, StateError> {
        let number = u64::read(state)?;
        usize::try_from(number).map_err(|_| {
            let expected = format!("an index of this machine as {}", state.name());
            state.error_before(8, expected, number.to_string())
        })
    }
}

impl State for bool {
    fn save(&self, state: &mut StateWriter) {
        state.put_bool(*self);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        *self = Value::read(state)?;
        Ok(())
    }
}

impl Value for bool {
    const BYTES_MIN: usize = 1;

    fn read(state: &mut StateReader<'_>) -> Result<bool, StateError> {
        state.bool(state.name())
    }
}

impl State for String {
    fn save(&self, state: &mut StateWriter) {
        state.put_bytes(self.as_bytes());
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        *self = Value::read(state)?;
        Ok(())
    }
}

impl Value for String {
    const BYTES_MIN: usize = 8;

    fn read(state: &mut StateReader<'_>) -> Result<String, StateError> {
        let bytes = state.bytes(state.name())?;
        let text = std::str::from_utf8(bytes).map_err(|error| {
            state.error(
                format!("a text as {}", state.name()),
                format!("no UTF-8 after {}", error.valid_up_to()),
            )
        })?;
        Ok(text.into())
    }
}
