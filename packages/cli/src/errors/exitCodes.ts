/** What the exit code says. Stable: scripts act on it. */
export const EXIT_CODES = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  refused: 3,
  orderEnded: 4,
  timedOut: 5,
  unreachable: 6,
  unsafe: 7,
  /** 128 + SIGINT, as shells have it. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES]

/** For `--help`. */
export const EXIT_CODE_MEANINGS: Readonly<Record<keyof typeof EXIT_CODES, string>> = {
  ok: 'done',
  unexpected: 'something unexpected',
  usage: 'the command line or a setting is wrong',
  refused: 'refused by the service; the message names the code',
  orderEnded: 'the order ended in another way: rejected, canceled, expired, timed out',
  timedOut: 'still waiting when the time was over; what was sent goes on',
  unreachable: "the service or the chain's node can't be reached, or did not take it",
  unsafe: 'nothing was signed: keys, chain or Diamond are wrong, or the prepared transaction did not verify',
  interrupted: 'stopped by Ctrl-C while waiting; what was sent goes on',
}
