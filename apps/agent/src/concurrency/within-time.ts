import { guarded } from '@crux/service-kit'

/** The result of the work, or that of `late` when the work takes longer, which it may continue to do. */
export function withinTime<T, L>(work: Promise<T>, ms: number, late: () => L): Promise<T | L> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      guarded('work that takes long', () => resolve(late())),
      ms,
    )
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
