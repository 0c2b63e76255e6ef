import type { OrderPreview, PositionPreview } from '@bezel/sdk'
import type { ComponentChildren } from 'preact'
import { plainRemedy } from '../session/cures.ts'
import { Notice, ProblemNotice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { CureButton } from './CureButton.tsx'
import type { PreviewState } from './usePreview.ts'
import { refusalOf } from './words.ts'

/** A line of a preview: a name, the value afterwards, and the value before it where that tells something. */
export interface PreviewLine {
  readonly label: string
  readonly before?: ComponentChildren
  readonly after: ComponentChildren
  readonly testId?: string
}

interface PreviewLinesProps<Preview extends OrderPreview | PositionPreview> {
  readonly state: PreviewState<Preview>
  /** Names of the lines, which stand there with skeletons until the first preview has come. */
  readonly labels: readonly string[]
  readonly linesOf: (preview: Preview) => readonly PreviewLine[]
  /** Shown before anything can be previewed. */
  readonly idle: string
}

/** Shows what a close or a change would do and cost, as the service computed it, and what stands in its way. */
export function PreviewLines<Preview extends OrderPreview | PositionPreview>(props: PreviewLinesProps<Preview>) {
  const { state, labels, linesOf, idle } = props
  const { preview, problem, isAsking } = state
  if (problem !== null) return <ProblemNotice problem={problem} testId="preview-problem" />
  if (preview === null && !isAsking) return <p class="portfolio-idle">{idle}</p>
  const lines = preview === null ? labels.map((label): PreviewLine => ({ label, after: null })) : linesOf(preview)
  return (
    <div class="portfolio-preview" data-testid="preview" aria-busy={isAsking}>
      <dl class="portfolio-lines">
        {lines.map(({ label, before, after, testId }) => (
          <div key={label} class="portfolio-line">
            <dt>{label}</dt>
            <dd data-testid={testId}>
              {before !== undefined && (
                <>
                  <span class="portfolio-before">{before}</span>
                  <span class="portfolio-arrow" aria-label="becomes">
                    {' → '}
                  </span>
                </>
              )}
              {after ?? <Skeleton width="8ch" />}
            </dd>
          </div>
        ))}
      </dl>
      {preview !== null && <Circumstances preview={preview} />}
    </div>
  )
}

function Circumstances({ preview }: { readonly preview: OrderPreview | PositionPreview }) {
  const refusal = refusalOf(preview)
  return (
    <>
      {preview.warnings.map(({ code, message }) => (
        <Notice key={code} tone="warn">
          {message}
        </Notice>
      ))}
      {refusal !== null && (
        <Notice tone="bad" title="The contracts would refuse it now">
          {refusal.cause} {refusal.remedy}
        </Notice>
      )}
      {preview.missing.map((missing) => (
        <Notice
          key={missing.code + missing.kind}
          tone="warn"
          testId={`missing-${missing.kind}`}
          action={<CureButton missing={missing} />}
        >
          {missing.message} {plainRemedy(missing)}
        </Notice>
      ))}
    </>
  )
}
