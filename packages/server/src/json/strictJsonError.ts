/** Why a text is refused. `path` says where (`body.scope.markets[1]`), the message is a sentence for the person who sent it. */
export class StrictJsonError extends Error {
  override readonly name = 'StrictJsonError'
  readonly path: string

  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}
