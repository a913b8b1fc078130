// Every rule of the interface by section and number, in our own words, with the tests that prove it.
import { AUTHENTICATION, ENDPOINT_RULES, EVENT_RULES, STATES_AND_TRANSITIONS } from './behaviour.ts';
import { RESOURCES_AND_FIELDS, WHAT_THE_SERVICE_DOES } from './records.ts';
import { ERROR_RULES, LIMIT_RULES, VERSION_RULES } from './refusals.ts';
import type { Section } from './rule.ts';

export const SECTIONS: readonly Section[] = [
  WHAT_THE_SERVICE_DOES,
  RESOURCES_AND_FIELDS,
  STATES_AND_TRANSITIONS,
  ENDPOINT_RULES,
  AUTHENTICATION,
  EVENT_RULES,
  ERROR_RULES,
  LIMIT_RULES,
  VERSION_RULES,
];
