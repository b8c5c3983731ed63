// The policy of the page forbids code made from text, which the parser of the AI SDK would try. Imported before it.

import { config } from 'zod/v4/core';

config({ jitless: true });
