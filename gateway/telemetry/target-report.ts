// What operators learn of a target that goes out of service or comes back: one log line and the metrics.
// Told of each change by upstream/, through gateway.ts.
import type { TargetChange } from '../exchange/standing.ts';
import type { Telemetry } from './telemetry.ts';

export function createTargetReport({
  logger,
  metrics,
}: Pick<Telemetry, 'logger' | 'metrics'>): (change: TargetChange) => void {
  return (change) => {
    metrics.targetChanged(change);
    const { upstream, target, up, by, why } = change;
    const fields = { upstream, target, reason: why };
    const message = MESSAGES[by];
    if (up) logger.info(message.up, fields);
    else logger.warn(message.down, fields);
  };
}

const MESSAGES: Readonly<Record<TargetChange['by'], Readonly<Record<'up' | 'down', string>>>> = {
  health: { up: 'a target passes its health checks again', down: 'a target fails its health checks' },
  breaker: { up: 'a target answers again', down: 'a target is taken out: its requests fail' },
};
