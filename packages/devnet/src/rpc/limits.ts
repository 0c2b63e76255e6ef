/** Every limit of the RPC server, in one list. */
export const RPC_LIMITS = {
  /** Longest HTTP body or WebSocket message. */
  maxBodyBytes: 5_000_000,
  maxBatchLength: 1_000,
  /** All answers of a batch together; the requests beyond it are answered with an error. */
  maxBatchAnswerChars: 25_000_000,
  /** Requests one WebSocket may have under way, so that a client that only writes can't fill the memory. */
  maxSocketRequests: 2_000,
  maxSocketSubscriptions: 100,
  /** A reader that leaves more than this unread is cut off. */
  maxSocketBufferBytes: 16_000_000,
} as const
