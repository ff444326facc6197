import * as MemoryBackend from "../../src/SecretStore/MemoryBackend.ts"
import { suite } from "./SecretStorageTest.ts"

suite("memory", MemoryBackend.layer())
