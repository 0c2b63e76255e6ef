import { MALFORMED_TEXT } from '../../access/malformedText.ts'

/** A request of no known type, or without what its type needs. */
export class MalformedInfoError extends Error {
  override readonly name = 'MalformedInfoError'
  constructor() {
    super(MALFORMED_TEXT)
  }
}
