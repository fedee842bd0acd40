"""A route as RocketMQ prints it."""

PRINTED_ROUTE = """{
	"brokerDatas":[{"brokerAddrs":{0:"10.0.0.1:10911"},"brokerName":"broker-a","cluster":"c"}],
	"filterServerTable":{},
	"queueDatas":[
		{"brokerName":"broker-a","perm":6,"readQueueNums":4,"topicSynFlag":0,"writeQueueNums":4}
	]
}"""
