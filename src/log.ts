import { type Logger, pino } from 'pino';

/** JSON lines on stdout. Headers that carry credentials and a player's contacts never get into them. */
export function createLog(level: string): Logger {
  return pino({
    level,
    redact: {
      paths: ['*.authorization', '*.cookie', '*.email', '*.mobile', '*.mobileNumber', '*.headers'],
      censor: '[redacted]',
    },
  });
}
