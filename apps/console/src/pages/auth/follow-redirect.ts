type Answer = { status: number; headers: Headers; data: unknown }

/** Follows an answer that sends the browser on (201 with Location: a provider, the second factor); else gives its data. */
export async function followRedirect(answer: Promise<Answer>): Promise<unknown> {
  const { status, headers, data } = await answer
  const address = status === 201 ? headers.get('location') : null
  if (!address) return data
  location.assign(address)
  // The page is being left.
  return new Promise(() => {})
}
