import { addUpBooks, decimal, type BooksFile, type CollateralBooks } from '@bezel/sdk'
import { positions } from '../data/account.ts'
import { isBusy, problemOfAction, runAction } from '../session/act.ts'
import { Button } from '../ui/Button.tsx'
import { Empty } from '../ui/Empty.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Money } from '../ui/Money.tsx'
import { Notice, ProblemNotice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { BOOKS_FILES, readBooksFile, saveFile } from './booksFiles.ts'
import { ledger } from './ledger.ts'

/** The books of the account: what went in, what came out, what it cost, whether they balance, and their CSV files. */
export function BooksPanel() {
  const { entries, problem } = ledger.value
  const held = positions.value
  return (
    <section class="history-panel" aria-labelledby="history-books">
      <header class="portfolio-header">
        <h2 id="history-books">Books</h2>
        <Downloads />
      </header>
      <div class="history-books">
        <ProblemNotice problem={problem} />
        {entries === null || held === null ? (
          problem === null && <Skeleton lines={8} />
        ) : (
          <BooksList books={addUpBooks(entries, held)} />
        )}
      </div>
    </section>
  )
}

function BooksList({ books }: { readonly books: readonly CollateralBooks[] }) {
  if (books.length === 0) {
    return <Empty title="The books are empty.">They begin with your first trade and balance to the last digit.</Empty>
  }
  return (
    <>
      {books.map((of) => (
        <Books key={of.collateralSymbol} books={of} />
      ))}
    </>
  )
}

/** The sums of one collateral, in the order in which they add up. */
function Books({ books }: { readonly books: CollateralBooks }) {
  const { collateralSymbol: symbol, entries, difference } = books
  const lines: readonly (readonly [label: string, amount: string])[] = [
    ['Paid in from the wallet', books.deposit],
    ['Paid out to the wallet', decimal.sub('0', books.payout)],
    ['Price profit', books.pnl],
    ['Trading fees', decimal.sub('0', books.feeCollateral)],
    ['Funding', decimal.sub('0', books.fundingFee)],
    ['Borrowing', decimal.sub('0', books.borrowingFee)],
    ['Forfeited', decimal.sub('0', books.forfeited)],
    ['In open positions', decimal.sub('0', books.inPositions)],
  ]
  const isBalanced = decimal.compare(difference, '0') === 0
  return (
    <table class="history-sums" data-testid={`books-${symbol}`}>
      <caption>
        {symbol}, {entries} {entries === 1 ? 'entry' : 'entries'}
      </caption>
      <tbody>
        {lines.map(([label, amount]) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            <td>
              <Money amount={amount} symbol={symbol} decimals={6} fixed />
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">Net profit</th>
          <td>
            <Money amount={books.netPnl} symbol={symbol} tone="auto" decimals={6} fixed />
          </td>
        </tr>
        <tr>
          <td colSpan={2}>
            {isBalanced ? (
              <Notice tone="good" testId="books-balance">
                The books balance: the lines above add up to 0 {symbol}.
              </Notice>
            ) : (
              <Notice tone="warn" testId="books-balance">
                The lines above add up to {difference} {symbol}, not 0. Something was executed a moment ago, or a
                position was open before the service followed the chain.
              </Notice>
            )}
          </td>
        </tr>
      </tfoot>
    </table>
  )
}

function Downloads() {
  return (
    <div class="history-downloads">
      {BOOKS_FILES.map(({ name, label, testId }) => (
        <Button key={name} small busy={isBusy(name).value} testId={testId} onClick={() => void download(name)}>
          <Icon name="download" /> {label} CSV
        </Button>
      ))}
      {BOOKS_FILES.map(({ name }) => (
        <ProblemNotice key={name} problem={problemOfAction(name).value} />
      ))}
    </div>
  )
}

function download(name: BooksFile): Promise<unknown> {
  return runAction(name, async (client) => saveFile(`bezel-${name}`, await readBooksFile(client.account, name)), {
    needs: 'read',
  })
}
