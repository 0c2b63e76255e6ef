import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { failure, note, ok, reportOf, warning } from './finding.ts'
import { formatReport } from './printReport.ts'

const REPORT = reportOf([
  { title: 'this machine', sections: [{ subject: undefined, findings: [ok('clock', 'It agrees.')] }] },
  {
    title: 'base',
    sections: [
      {
        subject: 'provider 1 (node.example)',
        findings: [
          warning('batch size', 'Batches of 1 call are answered: take another plan.'),
          failure('chain id', 'It is on chain 1, and base is 8453: correct its address in the chains file.'),
        ],
      },
      { subject: 'chain', findings: [note('calls', 'About 1,000 calls a day.')] },
    ],
  },
])

const PLAIN = { hasColours: false }

describe('formatReport', () => {
  it('aligns the sentences of all groups, and breaks no line without a terminal', () => {
    assert.deepEqual(formatReport(REPORT, { ...PLAIN, width: undefined }), [
      'this machine',
      '    ✓ clock       It agrees.',
      '',
      'base',
      '  provider 1 (node.example)',
      '    ! batch size  Batches of 1 call are answered: take another plan.',
      '    ✗ chain id    It is on chain 1, and base is 8453: correct its address in the chains file.',
      '  chain',
      '    · calls       About 1,000 calls a day.',
      '',
      '1 thing must be mended before a start, and there is 1 warning.',
    ])
  })

  it('goes on below a sentence that is too long', () => {
    const lines = formatReport(REPORT, { ...PLAIN, width: 64 })
    const at = lines.findIndex((line) => line.includes('chain id'))
    assert.deepEqual(lines.slice(at, at + 2), [
      '    ✗ chain id    It is on chain 1, and base is 8453: correct',
      '                  its address in the chains file.',
    ])
  })

  it('puts sentences below the names on a narrow terminal, and keeps to its width', () => {
    for (const width of [30, 40, 50, 64, 80]) {
      const lines = formatReport(REPORT, { ...PLAIN, width })
      assert.deepEqual(
        lines.slice(0, -1).filter((line) => line.length > width),
        [],
      )
    }
    assert.deepEqual(formatReport(REPORT, { ...PLAIN, width: 30 }).slice(0, 3), [
      'this machine',
      '    ✓ clock',
      '      It agrees.',
    ])
  })

  it('colours signs and the sum, and no widths change by that', () => {
    const [coloured, plain] = [true, false].map((hasColours) => formatReport(REPORT, { hasColours, width: 64 }))
    assert.ok(coloured!.some((line) => line.includes('\u001b[31m✗\u001b[0m chain id')))
    assert.deepEqual(
      // oxlint-disable-next-line no-control-regex
      coloured!.map((line) => line.replaceAll(/\u001b\[\d+m/g, '')),
      plain,
    )
  })

  it('says when all is well', () => {
    assert.equal(formatReport(reportOf([]), { ...PLAIN, width: 80 }).at(-1), 'All is well.')
    const warned = reportOf([
      { title: 'a', sections: [{ subject: 'b', findings: [warning('c', 'D.'), warning('e', 'F.')] }] },
    ])
    assert.equal(
      formatReport(warned, { ...PLAIN, width: 80 }).at(-1),
      'Nothing must be mended, and there are 2 warnings.',
    )
  })
})
