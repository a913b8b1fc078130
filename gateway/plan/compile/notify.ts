// The `notify` section to settings: the countdown in days, the longest first, each once.
// The file has passed every check.
import type { GatewayFile } from '../grammar/gateway-grammar.ts';
import { beforeSunset, WRITTEN_BEFORE_SUNSET } from '../grammar/notify-section.ts';
import type { NotifySettings } from '../settings.ts';

/** Undefined where nobody would be told. */
export function compileNotify(notify: GatewayFile['notify']): NotifySettings | undefined {
  if (notify === undefined) return undefined;
  const { email, webhooks, before_sunset: steps = beforeSunset.parse([...WRITTEN_BEFORE_SUNSET]) } = notify;
  const smtp = email === undefined || email.smtp === 'none' ? undefined : email.smtp;
  if (smtp === undefined && webhooks?.intake === undefined) return undefined;
  return {
    email: email && smtp && { smtp, from: email.from },
    intake: webhooks?.intake,
    daysBefore: [...new Set(steps)].sort((one, other) => other - one),
  };
}
