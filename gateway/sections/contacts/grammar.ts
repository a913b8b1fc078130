// The grammar of `contacts`, the mail addresses of consumers.
import { z } from 'zod';
import { notation, parseMail } from '../../policy/notation.ts';

const contactMail = notation(parseMail, 'not a mail address', {
  description: 'Mail address of the consumer.',
  examples: ['api@acme.example'],
});

export const contactsSection = z.record(z.string(), contactMail).meta({
  description: 'Mail addresses of consumers by id; they take precedence over those of API keys.',
  examples: [{ acme: 'api@acme.example' }],
});
