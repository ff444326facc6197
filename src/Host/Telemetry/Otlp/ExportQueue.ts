/** What waits to be sent, in bounded memory. */

/** The bytes that may wait for each kind of telemetry. What is beyond is dropped, the newest first. */
export const maxBytes = 8 * 1024 * 1024

/** What one request takes; collectors refuse messages of more than 4 MiB. */
export const maxBatchItems = 512

/** What one request takes. */
export const maxBatchBytes = 1024 * 1024

/** What an item costs beside its bytes. */
const overhead = 96

/** First in, first out. */
export class ExportQueue {
  #items: Array<Uint8Array> = []
  #bytes = 0

  /** The number of items. */
  get size(): number {
    return this.#items.length
  }

  /** Whether there is enough for a request, so that sending need not wait. */
  get hasBatch(): boolean {
    return this.#items.length >= maxBatchItems || this.#bytes >= maxBatchBytes
  }

  /** Takes an item in; gives false where there is no room for it. */
  offer(item: Uint8Array): boolean {
    const bytes = item.length + overhead
    if (item.length > maxBatchBytes || this.#bytes + bytes > maxBytes) return false
    this.#items.push(item)
    this.#bytes += bytes
    return true
  }

  /** Removes what the next request takes. */
  takeBatch(): ReadonlyArray<Uint8Array> {
    let count = 0
    let bytes = 0
    while (count < maxBatchItems && count < this.#items.length) {
      bytes += this.#items[count]!.length
      if (bytes > maxBatchBytes && count > 0) break
      count++
    }
    const batch = this.#items.splice(0, count)
    for (const item of batch) this.#bytes -= item.length + overhead
    return batch
  }

  /** Removes everything, and gives the number of items. */
  clear(): number {
    const { size } = this
    this.#items = []
    this.#bytes = 0
    return size
  }
}
