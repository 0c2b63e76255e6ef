import { Button } from '../ui/Button.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'
import type { Pages } from './usePages.ts'

interface MoreButtonProps {
  readonly pages: Pages<unknown>
  /** Noun for the entries of the list, in the plural: `orders`. */
  readonly what: string
}

/** The button below a list that reads its next page, or says that there is none. */
export function MoreButton({ pages, what }: MoreButtonProps) {
  const { items, isComplete, isReading, problem, more } = pages
  if (items === null && problem === null) return null
  return (
    <div class="history-more">
      <ProblemNotice problem={problem} />
      {isComplete ? (
        items !== null && items.length > 0 && <p class="history-end">These are all {what}.</p>
      ) : (
        <Button busy={isReading} onClick={more} testId="history-more">
          {problem === null ? `Older ${what}` : 'Try again'}
        </Button>
      )}
    </div>
  )
}
