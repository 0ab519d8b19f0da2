//! What is counted of sessions.

use std::sync::{Arc, Weak};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use super::Hub;

/// Looks at the hub when somebody wants to know.
#[derive(Debug)]
struct Looking(Weak<Hub>);

impl Collector for Looking {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let Some(hub) = self.0.upgrade() else { return Ok(()) };
        let gauges = [
            ("processes", "Processes of the CLI that run", hub.live_processes()),
            ("processes_wanted", "Sessions that wait for a process", hub.waiting_for_process()),
        ];
        for (name, about, value) in gauges {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            let metric = encoder.encode_descriptor(name, about, None, gauge.metric_type())?;
            gauge.encode(metric)?;
        }
        let counts = hub.bus().counts();
        let counters = [
            ("events", "Events that were written", counts.events),
            ("approvals_opened", "Times that a person was asked", counts.opened),
            ("approvals_answered", "Answers that were given", counts.answered),
            ("approvals_closed", "Approvals that were closed", counts.closed),
            ("turns_ended", "Turns that have ended", counts.turns),
            ("processes_failed", "Processes of the CLI that failed", counts.failures),
        ];
        for (name, about, value) in counters {
            let counter = ConstCounter::new(value);
            let metric = encoder.encode_descriptor(name, about, None, counter.metric_type())?;
            counter.encode(metric)?;
        }
        Ok(())
    }
}

impl Hub {
    /// Has what is to be known of sessions counted.
    pub fn count_in(self: &Arc<Self>, registry: &mut Registry) {
        registry.register_collector(Box::new(Looking(Arc::downgrade(self))));
    }
}
