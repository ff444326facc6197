/** What waits to be sent, in bounded memory: requests' worth of bytes, so that no item costs more than its bytes. */

/** The bytes that may wait for each kind of telemetry. What is beyond is dropped, the newest first. */
export const maxBytes = 8 * 1024 * 1024

/** What one request takes; collectors refuse messages of more than 4 MiB. */
export const maxBatchItems = 512

/** What one request takes. */
export const maxBatchBytes = 1024 * 1024

/** What one request sends. */
export interface Batch {
  /** Encoded items, one behind the other. */
  readonly bytes: Uint8Array
  /** The number of items. */
  readonly count: number
}

/** First in, first out. */
export class ExportQueue {
  readonly #batches: Array<GrowingBatch> = []
  #size = 0
  #bytes = 0

  /** The number of items. */
  get size(): number {
    return this.#size
  }

  /** Whether there is enough for a request, so that sending need not wait. */
  get hasBatch(): boolean {
    return this.#batches.length > 1 || this.#batches[0]?.isFull === true
  }

  /** Copies an item in; gives false where there is no room for it. */
  offer(item: Uint8Array): boolean {
    if (item.length > maxBatchBytes || this.#bytes + item.length > maxBytes) return false
    let batch = this.#batches.at(-1)
    if (batch === undefined || !batch.hasRoomFor(item)) {
      batch = new GrowingBatch()
      this.#batches.push(batch)
    }
    batch.add(item)
    this.#size++
    this.#bytes += item.length
    return true
  }

  /** Removes what the next request takes; nothing where the queue is empty. */
  takeBatch(): Batch | undefined {
    const batch = this.#batches.shift()
    if (batch === undefined) return undefined
    this.#size -= batch.count
    this.#bytes -= batch.bytes.length
    return batch
  }

  /** Removes everything, and gives the number of items. */
  clear(): number {
    const { size } = this
    this.#batches.length = 0
    this.#size = 0
    this.#bytes = 0
    return size
  }
}

class GrowingBatch implements Batch {
  count = 0
  #buffer = Buffer.allocUnsafeSlow(16 * 1024)
  #used = 0

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#used)
  }

  get isFull(): boolean {
    return this.count >= maxBatchItems || this.#used >= maxBatchBytes
  }

  hasRoomFor(item: Uint8Array): boolean {
    return this.count < maxBatchItems && this.#used + item.length <= maxBatchBytes
  }

  add(item: Uint8Array): void {
    const needed = this.#used + item.length
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(maxBatchBytes, Math.max(needed, this.#buffer.length * 2)))
      larger.set(this.bytes)
      this.#buffer = larger
    }
    this.#buffer.set(item, this.#used)
    this.#used = needed
    this.count++
  }
}
