// What the kernel sends, field by field: `lessonkit/pictures/scene.py` says the same on its side, and
// a test compares the two. Times are whole microseconds since the first request, unless a field says
// otherwise.

/**
 * A row of the timeline: a stage of the pipeline.
 * @typedef {object} RowScene
 * @property {string} stage
 * @property {number} lanes calls side by side
 * @property {string} colour
 */

/**
 * The bars of the timeline: work, waits and counts.
 * @typedef {object} BarColumns
 * @property {number[]} row
 * @property {number[]} lane
 * @property {number[]} start
 * @property {number[]} length
 * @property {string[]} kind empty for work, "start", "count", or a kind of wait
 * @property {string[]} label what stands on it: the number of its element, or how long it waits
 * @property {string[]} note what it waits for; of work on a batch, its samples
 * @property {number[]} level its height, as a share of its lane
 * @property {number[]} cause the bar that it had to wait for, -1 for none
 * @property {(number | number[])[]} who the sample that it works on, or those of its batch
 */

/**
 * What a kind of wait looks like, and how it is put in words.
 * @typedef {object} WaitScene
 * @property {string} mark of its filling: its pattern is this, repeated
 * @property {string} legend
 * @property {string} sentence in which a name takes the place of {}
 */

/**
 * A part of the pipeline, and what works and is kept in it.
 * @typedef {object} PartScene
 * @property {string} name
 * @property {number[]} rows those of its stages
 * @property {number} calls at a time at most, 0 where nobody can say
 * @property {number | null} buffer the number of its buffer
 */

/**
 * A buffer, and how many elements it has room for; None for as many as come.
 * @typedef {object} BufferScene
 * @property {string} name
 * @property {number | null} capacity
 */

/**
 * What came into buffers, and left them, in the order of time.
 * @typedef {object} EventColumns
 * @property {number[]} buffer
 * @property {number[]} time
 * @property {number[]} change 1 for what came, -1 for what left
 * @property {string[]} label
 * @property {number[]} element
 * @property {number[]} bytes empty where nothing has a size
 */

/**
 * What a colour of the strip stands for.
 * @typedef {object} RankColour
 * @property {string} text
 * @property {string} colour
 */

/**
 * The rank that the others waited for in a step, and until when.
 * @typedef {object} LateRank
 * @property {number} rank
 * @property {number} time
 */

/**
 * What several ranks did, a row for each.
 * @typedef {object} StripScene
 * @property {number} ranks
 * @property {number} rank whose timeline is below
 * @property {RankColour[]} colours of training, waiting for data, and waiting for others
 * @property {LateRank[]} late
 * @property {number[][]} times of each rank, for each step: when it asked, got and trained
 * @property {number[]} ends of the steps
 * @property {string} words
 */

/**
 * What a formula says of a run.
 * @typedef {object} FormulaScene
 * @property {string} value
 * @property {boolean} holds
 * @property {string} said
 * @property {number[]} beaten its terms that have no effect, counted from the left
 */

/**
 * How the goals of a challenge stand: for each whether it is met, and a sentence.
 * @typedef {object} VerdictScene
 * @property {boolean} passed
 * @property {[boolean, string][]} goals
 * @property {string} message
 * @property {string} [remark] what a try in code did to the figures, if that is worth a word
 */

/**
 * A part of a job, and how many samples per second it allows.
 * @typedef {object} RoofScene
 * @property {string} name
 * @property {number} perSecond
 * @property {boolean} lit whether it is the lowest
 */

/**
 * How many samples per second each part allows, and how many the run makes.
 * @typedef {object} RoofsScene
 * @property {string} title
 * @property {string} words
 * @property {string} verdict
 * @property {RoofScene[]} parts in the order in which a sample meets them
 * @property {number | null} run
 */

/**
 * What the page draws of one run.
 * @typedef {object} Scene
 * @property {number} end
 * @property {string} unit "samples", or "elements" where an element may be more than one
 * @property {RowScene[]} rows from top to bottom, the accelerator last
 * @property {BarColumns} bars
 * @property {number[]} path the bars of the critical path
 * @property {number[]} epochs when each begins
 * @property {Record<string, WaitScene>} waits by the kinds of bars
 * @property {PartScene[]} parts
 * @property {BufferScene[]} buffers
 * @property {EventColumns} events
 * @property {[string, string][]} figures numbers with their names
 * @property {string} summary the picture in words
 * @property {string} note
 * @property {string} data what is wrong with the data that the model sees; empty if nothing is
 * @property {number | null} perSample seconds
 * @property {number} limit seconds per sample, which no run with this work gets below
 * @property {Record<string, string>} words of the page, by those of ours for which they stand
 * @property {StripScene | null} strip of several ranks
 * @property {FormulaScene} [formula]
 * @property {VerdictScene} [verdict]
 * @property {RoofsScene} [roofs] where they are asked for
 * @property {Scene | null} [pinned] the baseline run beside it, where that is not the one of the
 *   start; null if there is none
 */

/**
 * A bar, a dot, a line or steps through points, each a pair of numbers.
 * @typedef {object} ChartMark
 * @property {string} kind "bar", "dot", "line" or "steps"
 * @property {[number, number][]} points
 * @property {string} [text] beside it
 * @property {string} [say] what is said of it where one points
 * @property {string} [change] of a bar that says what has changed: "less" or "more"
 * @property {boolean} [marked]
 * @property {boolean} [hollow]
 */

/**
 * A row of marks, height pixels high; top is the number at its upper edge.
 * @typedef {object} ChartRow
 * @property {number} height
 * @property {number} top
 * @property {ChartMark[]} marks
 * @property {string} [name]
 */

/**
 * A picture of bars, lines and dots on one axis.
 * @typedef {object} ChartScene
 * @property {string} title
 * @property {string} words
 * @property {string} across what the horizontal axis has
 * @property {string} up and the vertical one; empty where rows have names
 * @property {number} from
 * @property {number} to
 * @property {boolean} seconds whether the axis has these, and not plain numbers
 * @property {ChartRow[]} rows
 */

/**
 * A run among others on one axis of time.
 * @typedef {object} RunScene
 * @property {string} title
 * @property {string} words
 * @property {Scene} scene
 */

/**
 * A control; its values are known to the page by their numbers and their texts alone.
 * @typedef {object} ControlScene
 * @property {string} name
 * @property {string} label
 * @property {string} kind "range", "choice", "flag" or "order"
 * @property {string[]} texts
 * @property {number | number[]} value at the start; of cards their numbers in order
 */

/**
 * What a challenge asks for.
 * @typedef {object} TaskScene
 * @property {string} text
 * @property {string[]} goals
 * @property {string[]} hints
 */

/**
 * A formula, before any run.
 * @typedef {object} FormulaSpec
 * @property {string} said its left side
 * @property {string[]} words its right side: other text and names take turns
 * @property {Record<string, string>} fixed the numbers that stay, by their names
 * @property {Record<string, number[]>} steps of the costs that a control turns
 */

/**
 * Why there is no picture.
 * @typedef {object} Failed
 * @property {string} error
 */

/**
 * What `explore` begins with.
 * @typedef {object} ExploreState
 * @property {Scene | null} scene
 * @property {Scene | null} pinned
 * @property {string} error
 * @property {ControlScene[]} controls
 * @property {TaskScene | null} task
 * @property {FormulaSpec | null} formula
 * @property {boolean} roofs whether they are drawn
 * @property {boolean} [alone] in a file of its own, without a kernel to ask
 */

/**
 * What came of an attempt in code.
 * @typedef {object} OutcomeState
 * @property {string} question the text of its challenge
 * @property {VerdictScene} verdict
 * @property {boolean} tried whether the challenge had been checked before
 * @property {Scene | null} scene
 */

/**
 * What every question begins with; `answer` is for its type, and described in its file.
 * @typedef {object} QuestionState
 * @property {string} kind
 * @property {string} asks "Predict" or "Vote"
 * @property {string} question
 * @property {string[]} sure
 * @property {Record<string, unknown>} answer
 */

/**
 * What the page shows when an answer is right, or asked for; types of questions add to it.
 * @typedef {object} RevealedScene
 * @property {string} text
 * @property {Scene | null} scene
 * @property {Scene | null} pinned
 */

export {};
