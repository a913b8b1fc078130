// Event types that can be subscribed to, and the format of a type (WH-8).

/** Events of the service itself; each goes only to the owner of the subscription. */
export const OWN_TYPES = {
  test: 'webhook.test',
  failing: 'webhook.failing',
  disabled: 'webhook.disabled',
} as const;

export const EVENT_TYPES: readonly string[] = [
  'order.created',
  'order.updated',
  'order.cancelled',
  'order.deleted',
  'payment.completed',
  'payment.failed',
  'payment.refunded',
  'version.deprecated',
  'version.sunset_approaching',
  'version.brownout_scheduled',
  'version.sunset_extended',
  'version.sunset',
  'version.retired',
  OWN_TYPES.failing,
  OWN_TYPES.disabled,
];

const FORM = /^[a-z0-9_]+(\.[a-z0-9_]+)+$/;
const LONGEST = 100;

export function isEventType(text: string): boolean {
  return text.length <= LONGEST && FORM.test(text);
}
