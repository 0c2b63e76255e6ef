import { context, isSpanContextValid, SpanStatusCode, trace, type Attributes, type Span } from '@opentelemetry/api'

/** The kinds of spans, which are also their names. */
type SpanName = 'request' | 'verify' | 'store' | 'rpc' | 'relay'

const tracer = trace.getTracer('bezel')

/** A span that ends later than the function that begins it. */
export interface LastingSpan {
  /** Runs `work` so that spans which begin in it, and in what it calls later, are children of this one. */
  within(work: () => void): void
  end(attributes: Attributes, isFailed: boolean): void
}

/** True when somebody has registered a provider of spans, which has to be before the service starts. */
export function isTraced(): boolean {
  const span = tracer.startSpan('request')
  const isReal = isSpanContextValid(span.spanContext())
  span.end()
  return isReal
}

/** Begins a span that its caller ends. */
export function beginSpan(name: SpanName, attributes: Attributes): LastingSpan {
  const span = tracer.startSpan(name, { attributes })
  return {
    within: (work) => context.with(trace.setSpan(context.active(), span), work),
    end(last, isFailed) {
      span.setAttributes(last)
      if (isFailed) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
  }
}

/**
 * Runs work in a span, which ends with it; for a promise, when that is settled. Without a provider the work is only
 * called. Attributes are names and counts: never anything that a client sent, nor a message of an error.
 */
export function inSpan<Result>(name: SpanName, attributes: Attributes, work: () => Result): Result {
  const span = tracer.startSpan(name, { attributes })
  if (!isSpanContextValid(span.spanContext())) return work()
  return context.with(trace.setSpan(context.active(), span), () => {
    try {
      const result = work()
      if (result instanceof Promise) {
        result.then(
          () => span.end(),
          (error: unknown) => fail(span, error),
        )
      } else {
        span.end()
      }
      return result
    } catch (error) {
      fail(span, error)
      throw error
    }
  })
}

/** Ends a span as failed, with the class of the error alone: its message may quote what a client sent. */
function fail(span: Span, error: unknown): void {
  span.setAttribute('error.type', error instanceof Error ? error.name : typeof error)
  span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}
