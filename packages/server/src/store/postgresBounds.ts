/**
 * Times after which a PostgreSQL that does not answer is given up, so that whoever asks is told within 3 s, and the
 * next try after its return is at most 2 s away. A test adds them up.
 */
export const POSTGRES_BOUNDS = {
  /** Time without a byte from a server that has something to answer, after which its connection is given up. */
  silenceMs: 1_500,
  /** Time for a connection to be made, and to wait for one while the server is silent. */
  connectMs: 1_200,
  /** Pause between two looks at silent connections. */
  lookMs: 100,
  /** Time to wait for a lock that another process holds. Below the time after which a silent connection is cut. */
  lockMs: 1_200,
  /** Pause between two looks for the outcome of a transaction that was cut off. */
  outcomePollMs: 100,
} as const
