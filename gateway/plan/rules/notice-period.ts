// notice-period: from the announcement of a deprecation to the sunset pass 12 months, 6 for an internal audience.
// Specification, Versioning 6; OAS-2. Counted to the sunset in force, so that an extension can make up for it.
import { dayOf } from '../../policy/notation.ts';
import { effectiveSunset } from '../redirects.ts';
import { dayUntil, monthsAfter, orLater } from './calendar.ts';
import { announcementOf, noticeMonths, type Rule, sunsetPlace } from './subject.ts';

export const noticePeriod: Rule = (subject, report) => {
  const { label, version, view } = subject;
  const sunset = effectiveSunset(version);
  const announced = announcementOf(version);
  if (sunset === undefined || announced === undefined) return;
  const months = noticeMonths(view);
  const earliest = monthsAfter(announced, months);
  if (sunset >= earliest) return;
  const kind = view.parts.audience === 'internal' ? 'an internal' : 'a public';
  const key = version.announced === undefined ? 'deprecated' : 'announced';
  report(sunsetPlace(subject), {
    rule: 'notice-period',
    message: `${label} ends less than ${months} months after it was ${key} (${dayOf(announced)}): too short for ${kind} API`,
    hint: orLater('sunset', earliest, `${key} ${dayUntil(monthsAfter(sunset, -months))} or earlier`),
  });
};
