import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import {
  context,
  ROOT_CONTEXT,
  trace,
  type Attributes,
  type AttributeValue,
  type Context,
  type Span,
  type SpanOptions,
  type SpanStatus,
  type Tracer,
} from '@opentelemetry/api'

/** A span that has ended. */
export interface RecordedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | undefined
  readonly attributes: Attributes
  readonly status: SpanStatus | undefined
}

/** Registers a provider for this process that tells each span when it has ended. */
export function recordSpans(onEnd: (span: RecordedSpan) => void): void {
  const active = new AsyncLocalStorage<Context>()
  const manager = {
    active: () => active.getStore() ?? ROOT_CONTEXT,
    with: <Args extends unknown[], Called extends (...args: Args) => ReturnType<Called>>(
      of: Context,
      work: Called,
      self?: ThisParameterType<Called>,
      ...args: Args
    ): ReturnType<Called> => active.run(of, () => work.apply(self, args)),
    bind: <Target>(_of: Context, target: Target): Target => target,
    enable: () => manager,
    disable: () => manager,
  }
  context.setGlobalContextManager(manager)
  const startSpan = (name: string, options: SpanOptions = {}, of: Context = context.active()): Span =>
    createSpan(name, options, trace.getSpan(of)?.spanContext(), onEnd)
  // Only the first form of `startActiveSpan` could be served like this, and nobody uses it.
  const tracer: Pick<Tracer, 'startSpan'> = { startSpan }
  trace.setGlobalTracerProvider({ getTracer: () => tracer as Tracer })
}

function createSpan(
  name: string,
  { attributes: first = {} }: SpanOptions,
  parent: { readonly traceId: string; readonly spanId: string } | undefined,
  onEnd: (span: RecordedSpan) => void,
): Span {
  const traceId = parent?.traceId ?? randomBytes(16).toString('hex')
  const spanId = randomBytes(8).toString('hex')
  const attributes: Attributes = { ...first }
  let status: SpanStatus | undefined
  const span: Span = {
    spanContext: () => ({ traceId, spanId, traceFlags: 1 }),
    setAttribute(key: string, value: AttributeValue) {
      attributes[key] = value
      return span
    },
    setAttributes(more) {
      Object.assign(attributes, more)
      return span
    },
    setStatus(told) {
      status = told
      return span
    },
    addEvent: () => span,
    addLink: () => span,
    addLinks: () => span,
    updateName: () => span,
    recordException: () => undefined,
    isRecording: () => true,
    end: () => onEnd({ name, traceId, spanId, parentId: parent?.spanId, attributes, status }),
  }
  return span
}

/** Returns the settings with which a service writes its spans to a file, a line each. */
export function writingSpans(file: string): Record<string, string> {
  return { SPANS_FILE: file, NODE_OPTIONS: `--import=${new URL('./writeSpans.ts', import.meta.url).href}` }
}
