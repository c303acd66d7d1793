/** Like Promise.all, but waits for the rest before it rejects, so that no work continues without its caller. */
export async function allOrFirstError<T>(work: readonly Promise<T>[]): Promise<T[]> {
  let first: { error: unknown } | undefined
  const results = await Promise.allSettled(
    work.map((promise) =>
      promise.catch((error) => {
        first ??= { error }
        throw error
      }),
    ),
  )
  if (first) throw first.error
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
}
