import { createPacer } from './pacer.ts'

/** What was asked over one socket and is not answered yet. The service answers in order. */
export interface Questions<Question> {
  /** `message` is made when it is sent, which may be a moment later. */
  ask(question: Question, message: () => object): void
  /** The one that is answered next. */
  readonly first: Question | undefined
  /** Takes it away, because its answer has come. */
  answered(): Question | undefined
  close(): void
}

/** The service cuts who says more than 20 things in a second, and a network can push two seconds into one. */
const MESSAGES_PER_SECOND = 10

export function createQuestions<Question>(send: (message: object) => void): Questions<Question> {
  const pacer = createPacer(MESSAGES_PER_SECOND)
  const waiting: Question[] = []
  return {
    ask: (question, message) =>
      pacer.run(() => {
        waiting.push(question)
        send(message())
      }),
    get first() {
      return waiting[0]
    },
    answered: () => waiting.shift(),
    close: () => pacer.close(),
  }
}
