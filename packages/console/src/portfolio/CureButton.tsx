import type { Missing } from '@bezel/sdk'
import { isBusy, problemOfAction } from '../session/act.ts'
import { cureOf } from '../session/cures.ts'
import { Button } from '../ui/Button.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'

/** The button that cures what a request lacks; nothing where no button does. */
export function CureButton({ missing }: { readonly missing: Missing }) {
  const cure = cureOf(missing)
  if (cure === null) return null
  const name = `cure-${missing.kind}`
  return (
    <>
      <Button small busy={isBusy(name).value} testId={name} onClick={() => void cure.run(name)}>
        {cure.label}
      </Button>
      <ProblemNotice problem={problemOfAction(name).value} />
    </>
  )
}
