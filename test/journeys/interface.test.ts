// The specification by section: the sample services behind a gateway, where no other journey covers it.
import { afterAll, beforeAll } from 'vitest';
import { authentication } from './interface/authentication.ts';
import { endpoints } from './interface/endpoints.ts';
import { errors } from './interface/errors.ts';
import { events } from './interface/events.ts';
import { type InterfaceFixture, startInterfaceFixture } from './interface/fixture.ts';
import { limits } from './interface/limits.ts';
import { resources } from './interface/resources.ts';
import { states } from './interface/states.ts';
import { versioning } from './interface/versioning.ts';
import { whatTheServiceDoes } from './interface/what-the-service-does.ts';

let started: InterfaceFixture;
beforeAll(async () => {
  started = await startInterfaceFixture();
});
afterAll(() => started[Symbol.asyncDispose]());

const fixture = (): InterfaceFixture => started;
for (const section of [
  whatTheServiceDoes,
  resources,
  states,
  endpoints,
  authentication,
  events,
  errors,
  limits,
  versioning,
])
  section(fixture);
