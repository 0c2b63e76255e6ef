/** What the exchange whose shape this is says of every request it can't read; clients know the text. */
export const MALFORMED_TEXT = 'Failed to deserialize the JSON body into the target type'

/** A request of no known type, or without what its type needs. */
export class MalformedInfoError extends Error {
  override readonly name = 'MalformedInfoError'
  constructor() {
    super(MALFORMED_TEXT)
  }
}
