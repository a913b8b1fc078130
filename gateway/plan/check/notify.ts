// Checks `notify` in `config/gateway.yaml`: it needs a ledger and an admin listener, and hides its password.

import type { Report } from '../../sections/view.ts';
import type { GatewayView } from './views.ts';

export function checkNotify({ document, parts }: GatewayView, report: Report): void {
  const { notify, ledger } = parts;
  if (notify === undefined) return;
  if (notify.email !== undefined && ledger === 'off') {
    report(['notify', 'email'], {
      rule: 'notify',
      severity: 'warning',
      message: 'no mail is sent without a ledger: only the ledger knows which consumers call',
      hint: 'remove ledger: off from this file',
      at: 'key',
    });
  }
  if (notify.webhooks?.deliveries !== undefined && parts.listeners?.admin === undefined) {
    report(['notify', 'webhooks', 'deliveries'], {
      rule: 'notify',
      severity: 'warning',
      message: 'the deliveries are not shown: this file has no admin listener',
      hint: 'write listeners: { admin: { address: "127.0.0.1:9901" } }',
      at: 'key',
    });
  }
  const smtp = ['notify', 'email', 'smtp'];
  const server = notify.email?.smtp;
  if (
    server !== undefined &&
    server !== 'none' &&
    server.credentials !== undefined &&
    !document.isSecret(smtp)
  ) {
    report(smtp, {
      rule: 'secret',
      severity: 'warning',
      message: 'the password is written in this file in plain text',
      hint: `write \${file:/path} or \${env:NAME}`,
      at: 'key',
    });
  }
  const seen = new Set<number>();
  for (const [index, days] of (notify.before_sunset ?? []).entries()) {
    if (seen.has(days)) {
      const message = `${days}d is in this list already`;
      report(['notify', 'before_sunset', index], { rule: 'notify', severity: 'warning', message });
    }
    seen.add(days);
  }
}
