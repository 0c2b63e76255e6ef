/** Clients know this sentence; what exactly is wrong comes behind it. */
const PREFIX = 'Failed to deserialize the JSON body into the target type'

/** The body is no envelope: 422, and the message as plain text. */
export class MalformedEnvelope extends Error {
  override readonly name = 'MalformedEnvelope'

  constructor(fault: string) {
    super(`${PREFIX}: ${fault}`)
  }
}
