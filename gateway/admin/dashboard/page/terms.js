// What terms mean, shown when the pointer rests on a heading or a name. Sentences of the glossary.

/** @type {Readonly<Record<string, string>>} by the text that the dashboard shows */
export const MEANINGS = {
  Announced: 'The day from which callers see a date of the policy file.',
  'Brownouts to come': 'An announced, short refusal of a deprecated version.',
  'Closed to new consumers':
    'The day from which new consumers of a deprecated version get 403 with the successor.',
  Consumers: 'The application or account that calls, as its credentials name it.',
  Deprecated: 'The stage in which a version is still served, and its end is announced.',
  Exceptions: 'The permission for one consumer to pass brownouts, the sunset, lowered limits or a freeze.',
  Extended: 'A later sunset, announced before the sunset that it moves.',
  Guide: 'The page or file that tells callers how to migrate.',
  Operations: 'A method and a path template of a version.',
  Retired: 'The stage after the last exception: all requests get 410 or a redirect.',
  Successor: 'The version or operation that replaces another one.',
  Sunset: 'The day from which a version or operation answers 410 or redirects.',
  Upstream: 'A named service behind the gateway.',
};
