import { noFields } from './infoRequest.ts'
import { defineInfo, remembered } from './infoType.ts'
import { metaOf, type Meta } from './meta.ts'

const rememberedMetas = remembered<readonly Meta[]>(
  (reads) => String(reads.marketsVersion()),
  (reads) => `[${metaOf(reads).text}]`,
)

/** The meta of every dex, of which there is one. */
export const allPerpMetas = defineInfo<void, readonly Meta[]>({
  parse: noFields,
  answer(_request, reads) {
    reads.markets()
    return rememberedMetas(reads)
  },
})
