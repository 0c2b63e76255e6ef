export interface ProgressBarProps {
  readonly label: string
  readonly value: number
  readonly max: number
  /** Both numbers in words, for instance `1,200 of 5,000 USD`. */
  readonly text: string
  readonly testId?: string | undefined
}

/** A bar of how much of a whole is used. It turns amber above 80 % and red when nothing is left. */
export function ProgressBar({ label, value, max, text, testId }: ProgressBarProps) {
  const share = max > 0 ? Math.min(1, Math.max(0, value / max)) : 0
  const tone = share >= 1 ? 'bad' : share > 0.8 ? 'warn' : 'info'
  return (
    <div class="progress" data-testid={testId}>
      <div class="progress-text">
        <span>{label}</span>
        <span class="number">{text}</span>
      </div>
      <div
        class="progress-track"
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={max}
        aria-valuenow={Math.min(Math.max(value, 0), max)}
        aria-valuetext={text}
      >
        <div class={`progress-fill progress-${tone}`} style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  )
}
