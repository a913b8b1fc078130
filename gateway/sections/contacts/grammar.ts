// The grammar of `contacts`, the mail addresses of consumers.
import { z } from 'zod';
import { notation, parseMail } from '../../policy/notation.ts';

const contactMail = notation(parseMail, 'not a mail address', {
  description: 'Where a consumer is written to.',
  examples: ['api@acme.example'],
});

export const contactsSection = z.record(z.string(), contactMail).meta({
  description: 'Mail addresses of consumers, by their id; before those of their API keys.',
  examples: [{ acme: 'api@acme.example' }],
});
